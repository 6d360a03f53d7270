/** `/endpoints/graph` and `/endpoints/{id}/graph`: endpoints as pictures show them, with the counts of the last hour. */
import {
  constant,
  described,
  enumSchema,
  id,
  list,
  named,
  number,
  object,
  pageLimit,
  text,
  whole,
} from '../core/schema.ts'
import { STAGE_NAMES } from '../core/tracing/stages.ts'
import { NODE_KINDS } from '../document/graph/endpoint-graph.ts'
import { THING_KINDS } from '../document/graph/request-targets.ts'
import { MAX_SHOWN, SHOWN } from '../records/graph/service-graph.ts'
import { answer, findsNoEndpoint, route } from './route.ts'

const reads = described(constant(true), 'A read: the endpoint asks for it, and no message goes this way.')
const thing = { kind: enumSchema(THING_KINDS), name: text }

export const EndpointGraph = named('EndpointGraph', {
  endpointId: id,
  name: text,
  sampled: described(whole, 'How many of the newest messages of the last hour `runs` and `p95` are of.'),
  nodes: described(
    list(
      object(
        {
          id: text,
          kind: enumSchema(NODE_KINDS),
          name: text,
          text: described(text, 'One sentence.'),
          path: described(text, 'Its place in the document.'),
          failures: described(whole, 'Messages of the last hour that failed here.'),
          groups: list(object({ key: text, count: whole }, { code: text })),
          runs: whole,
        },
        {
          stage: enumSchema(STAGE_NAMES),
          when: described(text, 'JSONata that decides whether the request is made.'),
          calls: described(object(thing), 'What the request goes to.'),
          p95: described(number, 'Milliseconds of the stage or the calls.'),
        },
      ),
    ),
    'In the order in which they run.',
  ),
  edges: list(object({ from: text, to: text }, { label: described(text, 'The messages that go this way.'), reads })),
})

export const ServiceGraph = named('ServiceGraph', {
  nodes: list(
    object(
      { id: text, kind: enumSchema(['endpoint', ...THING_KINDS]), name: text },
      {
        entrances: described(list(text), 'Of an endpoint: its routes, topics, ports and times.'),
        count: described(whole, 'Messages of the last hour.'),
        failures: whole,
        endpoints: described(whole, 'How many endpoints have to do with it, also those that are not shown.'),
      },
    ),
  ),
  edges: list(object({ from: text, to: text }, { reads })),
  total: described(whole, 'Endpoints that match.'),
  shown: described(whole, 'How many of them are shown: those with the most messages.'),
})

export const graphRoutes = [
  route({
    method: 'GET',
    path: '/endpoints/graph',
    role: 'viewer',
    summary: 'The active endpoints with the topics, systems and tables that they have to do with: who feeds whom.',
    query: {
      q: described(text, 'Words in the name, labels, routes, topics, systems or tables of an endpoint.'),
      focus: described(
        text,
        'Id of a node: the endpoints at a topic, system or table, or those joined to an endpoint by topics.',
      ),
      limit: pageLimit(MAX_SHOWN, SHOWN, 'How many endpoints are shown.'),
    },
    otherQuery: 'ignored',
    answers: { 200: answer('The busiest endpoints first.', ServiceGraph) },
    sends: 'no-store',
    handle: async ({ query }, { readServiceGraph }) => readServiceGraph(query),
  }),
  route({
    method: 'GET',
    path: '/endpoints/:id/graph',
    role: 'viewer',
    summary:
      'The stages, requests, tables and branches of an endpoint, with the failures and durations of the last hour.',
    answers: { 200: answer('The graph of the stored document.', EndpointGraph) },
    fails: findsNoEndpoint,
    sends: 'no-store',
    handle: async ({ params }, { readEndpointGraph }) => readEndpointGraph(params.id),
  }),
]
