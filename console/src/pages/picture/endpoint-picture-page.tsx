/** `/endpoints/:id/picture`: what an endpoint does with its messages, and where they failed in the last hour. */

import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Schemas } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { Figures, wholeNumber } from '../../ui/data/figures.tsx'
import { duration } from '../../ui/data/time.tsx'
import { EndpointPage } from '../../ui/endpoint/endpoint-page.tsx'
import { type GraphItem, GraphView } from '../../ui/graph/graph-view.tsx'
import { QueryView } from '../../ui/states/states.tsx'
import { FailureLink } from './failure-link.tsx'

const EVERY_MS = 15_000

const route = getRouteApi('/endpoints/$id/picture')

export default function EndpointPicturePage() {
  const { id } = route.useParams()
  const graph = useQuery({ ...queries.endpointGraph(id), refetchInterval: EVERY_MS })
  const stats = useQuery({ ...queries.endpointStats(id), refetchInterval: EVERY_MS })
  const { count, failures, p95 } = stats.data?.hour ?? {}
  const shown = (value: number | undefined) => (value === undefined ? '–' : wholeNumber(value))
  return (
    <EndpointPage id={id} part="Picture">
      <Figures
        label="The last hour"
        figures={[
          { name: 'Messages of the last hour', value: shown(count) },
          { name: 'Failed', value: shown(failures), tone: failures ? 'bad' : undefined },
          { name: 'p95', value: typeof p95 === 'number' ? duration(p95) : '–' },
        ]}
      />
      <QueryView query={graph} what="Loading the picture">
        {(data) => <Picture graph={data} />}
      </QueryView>
    </EndpointPage>
  )
}

function Picture({ graph }: Readonly<{ graph: Schemas['EndpointGraph'] }>) {
  const items = useMemo(() => graph.nodes.map((node) => toItem(graph, node)), [graph])
  return (
    <>
      <p className="hint">
        A part opens where it is edited. Failures are those of the last hour
        {graph.sampled === 0
          ? '.'
          : `, durations those of the newest ${wholeNumber(graph.sampled)} messages in the log.`}
      </p>
      <GraphView label="Parts of the endpoint" items={items} lines={graph.edges} direction="down" />
    </>
  )
}

type Node = Schemas['EndpointGraph']['nodes'][number]

function toItem({ endpointId }: Schemas['EndpointGraph'], node: Node): GraphItem {
  const { id, kind, name, text, when, failures, groups, runs, p95, path } = node
  const ran = runs === 0 || p95 === undefined ? '' : `${wholeNumber(runs)} ×, p95 ${duration(p95)}`
  return {
    id,
    kind,
    name,
    facts: [text, [ran, when === undefined ? '' : `when ${when}`].filter(Boolean).join(' · ') || undefined],
    isFailing: failures > 0,
    corner: failures > 0 && (
      <FailureLink
        count={failures}
        of={
          groups.length === 1
            ? { group: groups[0]?.key }
            : { endpoint: [endpointId], stage: node.stage && [node.stage] }
        }
      />
    ),
    link: (children) =>
      kind === 'table' ? (
        <TextLink to="/tables/$name" params={{ name }} text={children} />
      ) : kind === 'mapping' ? (
        <TextLink to="/endpoints/$id/mapping" params={{ id: endpointId }} text={children} />
      ) : (
        <TextLink to="/endpoints/$id/form" params={{ id: endpointId }} search={{ path }} text={children} />
      ),
  }
}
