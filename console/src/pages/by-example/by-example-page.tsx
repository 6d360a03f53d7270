/** `/endpoints/by-example`: pairs of messages and what they become, and the document that is derived from them. */
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import { ApiFailure, asFailure } from '../../api/api-failure.ts'
import { type Derived, deriveDocument } from '../../api/by-example-calls.ts'
import { useMe, useRefusal } from '../../api/session.ts'
import { layOutDocument } from '../../draft/document-layout.ts'
import { type Draft, NEW } from '../../draft/draft.ts'
import { keepDraftTests } from '../../draft/draft-tests.ts'
import { readTree } from '../../draft/json-places.ts'
import { useDraft, useDraftNow } from '../../draft/use-draft.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { TextField } from '../../ui/controls/fields.tsx'
import { DocumentState } from '../../ui/endpoint/document-state.tsx'
import { EndpointNavigation, useEndpointRow } from '../../ui/endpoint/endpoint-page.tsx'
import { suggestPattern } from '../../ui/endpoint/pattern-of.ts'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Page } from '../../ui/states/page.tsx'
import { DerivedView } from './derived-view.tsx'
import { findLack, type NamedExample, NO_EXAMPLES, toExamples, toRequest, useGivenExamples } from './given-examples.ts'
import { PairFields, RecordedPairs } from './pair-fields.tsx'
import './by-example.css'

const route = getRouteApi('/endpoints/by-example')

export function ByExamplePage() {
  const { endpoint: id = NEW } = route.useSearch()
  const { draft, stored } = useDraft(id)
  if (draft === undefined) return <DocumentState title="By example" query={stored} />
  return <Examples key={id} draft={draft} />
}

/** What was derived, from which pairs. */
type Result = Readonly<{ found: Derived; examples: readonly NamedExample[] }>

function Examples({ draft }: Readonly<{ draft: Draft }>) {
  const isNew = draft.id === NEW
  const { text } = useDraftNow(draft)
  const { message: ids = NO_IDS } = route.useSearch()
  const navigate = useNavigate()
  const { given, change, isKept } = useGivenExamples(draft.id, useMe()?.who ?? '')
  const pattern = given.pattern ?? suggestPattern(given.name)
  const [isClearing, setClearing] = useState(false)
  const refused = useDeriveRefusal(ids, isNew || readTree(text) !== undefined) ?? findLack(ids, given)
  const derive = useMutation({
    mutationFn: async (answers: Derived['answers']): Promise<Result> => {
      const examples = toExamples(ids, given)
      const request = toRequest(examples, { ...given, answers }, isNew ? pattern : '')
      return { examples, found: await deriveDocument(request, isNew ? undefined : text) }
    },
    onSuccess: ({ found: { answers } }, asked) => {
      const lost = Object.keys(asked).filter((target) => !(target in answers))
      if (lost.length > 0) notify(`The pairs have other candidates now; answer again: ${lost.join(', ')}.`, 'warn')
      change({ answers, isDerived: true })
    },
  })
  const { failure, faultAt, shown } = nameFaults(derive.error, toExamples(ids, given))
  const again = useEffectEvent(() => {
    if (given.isDerived && refused === undefined) derive.mutate(given.answers)
  })
  useEffect(() => again(), [])
  const setIds = (message: readonly string[]) =>
    void navigate({ to: '.', search: (before) => ({ ...before, message }), replace: true, resetScroll: false })
  const clear = () => {
    change(NO_EXAMPLES)
    derive.reset()
    setIds([])
  }
  return (
    <Page
      title="By example"
      above={<Above id={draft.id} />}
      actions={
        <>
          <Button onPress={() => setClearing(true)}>Clear …</Button>
          <Button tone="primary" refused={refused} busy={derive.isPending} onPress={() => derive.mutate(given.answers)}>
            Derive the document
          </Button>
        </>
      }
    >
      <p className="hint">
        Paste messages and what each should become. The document that makes the one of the other is derived from them,
        on this service: two or three pairs with different values find most of it.
      </p>
      <section className="panel" aria-label="Pairs">
        <h2>Pairs</h2>
        {isNew && (
          <div className="field-row">
            <TextField label="Name" value={given.name} onChange={(name) => change({ name })} />
            <TextField
              label="Path"
              value={pattern}
              placeholder="/orders"
              onChange={(typed) => change({ pattern: typed })}
            />
          </div>
        )}
        <RecordedPairs ids={ids} onRemove={(id) => setIds(ids.filter((one) => one !== id))} />
        <PairFields given={given} change={change} faultAt={faultAt} />
        {!isKept && <p className="hint">The pairs are too large to be kept for a reload of the page.</p>}
      </section>
      {failure === undefined ? null : <FailureNotice failure={failure} shown={shown} />}
      {derive.data !== undefined && (
        <DerivedOf
          draft={draft}
          result={derive.data}
          busy={derive.isPending}
          refused={refused}
          onAnswer={derive.mutate}
        />
      )}
      {isClearing && (
        <ConfirmDialog
          title="Clear all pairs?"
          confirm="Clear"
          tone="danger"
          onConfirm={clear}
          onClose={() => setClearing(false)}
        >
          The pairs and your answers are removed. A draft that you opened in the editor stays.
        </ConfirmDialog>
      )}
    </Page>
  )
}

const NO_IDS: readonly string[] = []

function useDeriveRefusal(ids: readonly string[], isReadable: boolean): string | undefined {
  const author = useRefusal('author')
  const operator = useRefusal('operator')
  if (author !== undefined) return author
  if (ids.length > 0 && operator !== undefined) return `Recorded messages: ${operator}`
  return isReadable ? undefined : 'The draft of the endpoint is not JSON: fix it in the editor first.'
}

function Above({ id }: Readonly<{ id: string }>) {
  const { data: row } = useEndpointRow(id === NEW ? '' : id)
  return id === NEW ? <Link to="/endpoints">Endpoints</Link> : <EndpointNavigation id={id} row={row} />
}

/** Places of faults as the page calls them. `shown`: those that are at their fields. */
function nameFaults(error: Error | null, examples: readonly NamedExample[]) {
  const given = error === null ? undefined : asFailure(error)
  const details = given?.details.map((detail) => {
    const [, index = '', rest = ''] = /^examples\[(\d+)\](?:\.(.*))?$/.exec(detail.path ?? '') ?? []
    const name = examples[Number(index)]?.name
    return index === '' || name === undefined ? detail : { ...detail, path: [name, rest].filter(Boolean).join(': ') }
  })
  const { status = 0, code, message = '' } = given ?? {}
  const failure = given && new ApiFailure(message, { status, details: details ?? [], ...(code && { code }) })
  const faultAt = (name: string, side: 'message' | 'output') =>
    details?.find(({ path }) => path === `${name}: ${side}`)?.message
  const shown = examples.flatMap(({ name }) => [`${name}: message`, `${name}: output`])
  return { failure, faultAt, shown: shown.filter((path) => path.startsWith('Pair')) }
}

type DerivedOfProps = Readonly<{
  draft: Draft
  result: Result
  busy: boolean
  refused: string | undefined
  onAnswer(answers: Derived['answers']): void
}>

function DerivedOf({ draft, result: { found, examples }, busy, refused, onAnswer }: DerivedOfProps) {
  const navigate = useNavigate()
  const who = useMe()?.who ?? ''
  const open = () => {
    draft.replaceText(layOutDocument(JSON.stringify(found.endpoint)))
    keepDraftTests(draft.id, { who, tests: found.tests ?? [] })
    if (draft.id === NEW) void navigate({ to: '/endpoints/new' })
    else void navigate({ to: '/endpoints/$id/edit', params: { id: draft.id } })
  }
  return (
    <DerivedView
      found={found}
      nameOf={(index) => examples[index]?.name ?? `Pair ${index + 1}`}
      busy={busy}
      refused={refused}
      onAnswer={(target, answer) => {
        const { [target]: _before, ...others } = found.answers
        onAnswer(answer === undefined ? others : { ...others, [target]: answer })
      }}
      onOpen={open}
    />
  )
}
