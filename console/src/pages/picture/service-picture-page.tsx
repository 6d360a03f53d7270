/** `/picture`: which topics, systems and tables endpoints share, and so who feeds whom. */

import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Schemas } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { type Filter, FilterBar } from '../../ui/controls/filter-bar.tsx'
import { TextLink } from '../../ui/controls/text-link.tsx'
import { wholeNumber } from '../../ui/data/figures.tsx'
import { type GraphItem, GraphView } from '../../ui/graph/graph-view.tsx'
import { Answer, Empty, Page } from '../../ui/states/states.tsx'
import { FailureLink } from './failure-link.tsx'
import type { PictureSearch } from './picture-search.ts'

const EVERY_MS = 30_000
const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'search', placeholder: 'Name, label, route, topic, system or table' },
]

const route = getRouteApi('/picture')

export default function ServicePicturePage() {
  const search = route.useSearch()
  return (
    <Page title="Map of endpoints">
      <FilterBar filters={FILTERS} values={search} />
      <Answer
        of={{
          ...queries.serviceGraph(search),
          placeholderData: (before) => before,
          refetchInterval: EVERY_MS,
        }}
        what="Loading the map"
      >
        {(graph) => <Picture graph={graph} search={search} />}
      </Answer>
    </Page>
  )
}

function Picture({ graph, search: { focus, q } }: Readonly<{ graph: Schemas['ServiceGraph']; search: PictureSearch }>) {
  const { nodes, edges, total, shown } = graph
  const lines = useMemo(() => {
    const sent = new Set(edges.map(({ from, to }) => `${to} ${from}`))
    return edges.filter(({ from, to, reads }) => reads === undefined || !sent.has(`${from} ${to}`))
  }, [edges])
  const items = useMemo(() => nodes.map((node) => toItem(node, focus)), [nodes, focus])
  const all = <TextLink to="/picture" search={{}} text="Show all endpoints" />
  if (total === 0) {
    return (
      <Empty title="No active endpoint matches" action={q === undefined && focus === undefined ? undefined : all}>
        Active endpoints are shown with the topics, systems and tables that they receive from, ask and send to.
      </Empty>
    )
  }
  const centre = nodes.find(({ id }) => id === focus)?.name
  return (
    <>
      <p className="hint">
        {shown < total
          ? `The ${wholeNumber(shown)} with the most messages in the last hour, and ${wholeNumber(total - shown)} more: search, or open one to see what is around it.`
          : `${wholeNumber(total)} ${total === 1 ? 'endpoint' : 'endpoints'}${centre === undefined ? '' : ` around ${centre}`}.`}{' '}
        A dashed line only reads. {focus !== undefined && all}
      </p>
      <GraphView label="Endpoints and what they share" items={items} lines={lines} direction="right" />
    </>
  )
}

type Node = Schemas['ServiceGraph']['nodes'][number]

function toItem({ id, kind, name, entrances, count, failures, endpoints }: Node, focus: string | undefined): GraphItem {
  const isEndpoint = kind === 'endpoint'
  return {
    id,
    kind,
    name,
    facts: isEndpoint
      ? [entrances?.join(', '), `${wholeNumber(count ?? 0)} in the last hour`]
      : [endpoints === 1 ? 'of one endpoint' : `of ${wholeNumber(endpoints ?? 0)} endpoints`],
    isFocused: id === focus,
    isFailing: (failures ?? 0) > 0,
    corner: isEndpoint && (
      <span className="row">
        {(failures ?? 0) > 0 && <FailureLink count={failures ?? 0} of={{ endpoint: [id] }} />}
        <TextLink to="/endpoints/$id/picture" params={{ id }} aria-label={`Picture of ${name}`} text="Picture" />
      </span>
    ),
    link: (children) => <TextLink to="/picture" search={{ focus: id }} text={children} />,
  }
}
