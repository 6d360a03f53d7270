/** `/endpoints/by-example`: pairs of messages and what they become, and the document that is derived from them. */
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import { ApiFailure, asFailure } from '../../api/api-failure.ts'
import { type Answers, type Derived, deriveDocument, type Example } from '../../api/by-example-calls.ts'
import { useMe, useRefusal } from '../../api/session.ts'
import { useVocabulary } from '../../api/vocabulary.ts'
import { layOutDocument } from '../../draft/document-layout.ts'
import { type Draft, NEW } from '../../draft/draft.ts'
import { readTree } from '../../draft/json-places.ts'
import { keep, keepDraftTests, readKept } from '../../draft/kept-drafts.ts'
import { useDraft, useDraftNow } from '../../draft/use-draft.ts'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/fields.tsx'
import { MessageLink } from '../../ui/data/status-chip.tsx'
import { DocumentState } from '../../ui/endpoint/document-state.tsx'
import { EndpointNavigation, useEndpointRow } from '../../ui/endpoint/endpoint-page.tsx'
import { suggestPattern } from '../../ui/endpoint/pattern-of.ts'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Page } from '../../ui/states/states.tsx'
import { DerivedView, nameExample } from './derived-view.tsx'
import './by-example.css'

const route = getRouteApi('/endpoints/by-example')
const NO_IDS: readonly string[] = []

export default function ByExamplePage() {
  const { endpoint: id = NEW } = route.useSearch()
  const { draft, stored } = useDraft(id)
  if (draft === undefined) return <DocumentState title="By example" query={stored} />
  return <Examples key={id} draft={draft} />
}

function Examples({ draft }: Readonly<{ draft: Draft }>) {
  const isNew = draft.id === NEW
  const { text } = useDraftNow(draft)
  const { message: ids = NO_IDS } = route.useSearch()
  const navigate = useNavigate()
  const who = useMe()?.who ?? ''
  const { data: row } = useEndpointRow(isNew ? '' : draft.id)
  const { given, change, isKept } = useGivenExamples(draft.id, who)
  const { examples, lack } = toExamples(ids, given)
  const [author, operator] = [useRefusal('author'), useRefusal('operator')]
  const unreadable = isNew || readTree(text) !== undefined ? undefined : 'Fix the draft in the editor: it is not JSON.'
  const names = examples.map(({ name }) => name)
  const refused = author ?? (ids.length > 0 ? operator : undefined) ?? unreadable ?? lack
  const basis = [given.pairs, given.messageType, given.outputType, given.name, ids.join(), text]
  const [result, setResult] = useState<Readonly<{ found: Derived; names: readonly string[]; basis: typeof basis }>>()
  const isStale = result?.basis.some((one, at) => one !== basis[at]) ?? false
  const derive = useMutation({
    mutationFn: async (answers: Answers) => {
      const named = isNew && given.name.trim() ? { name: given.name.trim(), pattern: suggestPattern(given.name) } : {}
      const request = { examples: examples.map(({ example }) => example), answers, ...named }
      return { names, basis, found: await deriveDocument(request, isNew ? undefined : text) }
    },
    onSuccess: (derived, asked) => {
      const { answers } = derived.found
      setResult(derived)
      const lost = Object.keys(asked).filter((target) => !(target in answers))
      if (lost.length > 0) notify(`The pairs have other candidates now. Answer again: ${lost.join(', ')}.`, 'warn')
      change({ answers, isDerived: true })
    },
  })
  const again = useEffectEvent(() => {
    if (given.isDerived && refused === undefined) derive.mutate(given.answers)
  })
  useEffect(() => again(), [])
  const failure = derive.error === null ? undefined : withNames(asFailure(derive.error), names)
  const places = given.pairs.flatMap((_, index) => SIDES.map(({ side }) => `${pairName(index)}: ${side}`))
  const isAtPairs = failure?.details.every(({ path = '' }) => places.includes(path)) && failure.details.length > 0
  const faultAt = (place: string) => failure?.details.find(({ path }) => path === place)?.message
  const open = ({ endpoint, tests }: Derived) => {
    draft.replaceText(layOutDocument(JSON.stringify(endpoint)))
    keepDraftTests(draft.id, { who, tests })
    if (isNew) void navigate({ to: '/endpoints/new' })
    else void navigate({ to: '/endpoints/$id/edit', params: { id: draft.id } })
  }
  const remove = (id: string) => {
    const message = ids.filter((one) => one !== id)
    void navigate({ to: '.', search: (before) => ({ ...before, message }), replace: true, resetScroll: false })
  }
  return (
    <Page
      title="By example"
      above={isNew ? null : <EndpointNavigation id={draft.id} row={row} />}
      actions={
        <Button
          text="Derive the document"
          tone="primary"
          refused={refused}
          busy={derive.isPending}
          onPress={() => derive.mutate(given.answers)}
        />
      }
    >
      <p className="hint">
        Paste messages and what each should become. The service derives the document that makes the one of the other;
        two or three pairs with different values find most of it.
      </p>
      <section className="panel" aria-label="Pairs">
        {isNew && <TextField label="Name" value={given.name} onChange={(name) => change({ name })} />}
        {ids.length > 0 && (
          <ul className="row" aria-label="Recorded messages">
            {ids.map((id) => (
              <li key={id}>
                Message <MessageLink id={id} />
                <Button text="×" tone="quiet" label={`Leave message ${id} out`} onPress={() => remove(id)} />
              </li>
            ))}
          </ul>
        )}
        <PairFields given={given} change={change} faultAt={faultAt} />
        {!isKept && <p className="hint">The pairs are too large to be kept for a reload of the page.</p>}
      </section>
      {isAtPairs ? (
        <p className="failure" role="alert">
          Change what is marked at the pairs.
        </p>
      ) : (
        <FailureNotice failure={failure} shown={places} />
      )}
      {result && (
        <DerivedView
          found={result.found}
          names={result.names}
          isStale={isStale}
          busy={derive.isPending}
          refused={refused}
          onAnswers={derive.mutate}
          onOpen={open}
        />
      )}
    </Page>
  )
}

/** The failure with the places of pairs as the page calls them. */
function withNames({ message, status, code, details }: ApiFailure, names: readonly string[]): ApiFailure {
  const named = details.map(({ path = '', ...detail }) => ({ ...detail, path: nameExample(path, names) }))
  return new ApiFailure(message, { status, details: named, ...(code && { code }) })
}

const BY_BEGINNING = { value: '', label: 'As it begins (JSON, XML, HL7 v2, CSV)' }

/** The two sides of a pair, as the API names them, with the setting of their format. */
const SIDES = [
  { side: 'message', label: 'Message as sent', type: 'messageType', typeLabel: 'Format of the messages' },
  { side: 'output', label: 'What it becomes', type: 'outputType', typeLabel: 'Format of what they become' },
] as const

type PairFieldsProps = Pick<ReturnType<typeof useGivenExamples>, 'given' | 'change'> &
  /** What is wrong at a place, such as `Pair 1: message`. */
  Readonly<{ faultAt(place: string): string | undefined }>

function PairFields({ given, change, faultAt }: PairFieldsProps) {
  const { pairs } = given
  const { data: formats = [] } = useVocabulary((vocabulary) => vocabulary.formats)
  const choices = [BY_BEGINNING, ...formats.map(({ title, mediaType }) => ({ value: mediaType, label: title }))]
  return (
    <>
      <div className="pair-sides">
        {SIDES.map(({ type, typeLabel }) => (
          <SelectField
            key={type}
            label={typeLabel}
            value={given[type]}
            choices={choices}
            onChange={(value) => change({ [type]: value })}
          />
        ))}
      </div>
      {pairs.map((pair, index) => {
        const name = pairName(index)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a pair is named by its number
          <fieldset key={index} className="pair-sides">
            <legend>{name}</legend>
            {SIDES.map(({ side, label }) => (
              <TextField
                key={side}
                label={label}
                value={pair[side]}
                rows={7}
                fault={faultAt(`${name}: ${side}`)}
                onChange={(text) => change({ pairs: pairs.with(index, { ...pair, [side]: text }) })}
              />
            ))}
            <div>
              <Button tone="quiet" onPress={() => change({ pairs: pairs.toSpliced(index, 1) })}>
                Remove {name.toLowerCase()}
              </Button>
            </div>
          </fieldset>
        )
      })}
      <div>
        <Button text="Add a pair" onPress={() => change({ pairs: [...pairs, EMPTY_PAIR] })} />
      </div>
    </>
  )
}

type TypedPair = Readonly<{ message: string; output: string }>

/** The types are empty where the texts say by their beginning what they are in. */
type GivenExamples = Readonly<{
  name: string
  messageType: string
  outputType: string
  pairs: readonly TypedPair[]
  answers: Answers
  /** The document was derived, and is again after a reload. */
  isDerived: boolean
}>

const EMPTY_PAIR: TypedPair = { message: '', output: '' }
const NONE = { name: '', messageType: '', outputType: '', pairs: [EMPTY_PAIR], answers: {}, isDerived: false }

/** `isKept`: false if the browser has no room for it. */
function useGivenExamples(id: string, who: string) {
  const name = `by-example:${id}`
  const [given, setGiven] = useState((): GivenExamples => ({ ...NONE, ...readKept(name, who) }))
  const [isKept, setKept] = useState(true)
  useEffect(() => setKept(keep(name, { ...given, who })), [name, given, who])
  const change = (changes: Partial<GivenExamples>) => setGiven((before) => ({ ...before, ...changes }))
  return { given, change, isKept }
}

/** Recorded messages first, each with its name on the page; `lack`: why they cannot be sent yet. Pairs without a text are left out. */
function toExamples(messageIds: readonly string[], { pairs, messageType, outputType }: GivenExamples) {
  const recorded = messageIds.map((messageId) => ({ name: `Message ${messageId}`, example: { messageId } }))
  const typed = pairs.map(({ message: body, output }, index) => ({
    name: pairName(index),
    sides: [body, output].filter((text) => text.trim() !== '').length,
    example: {
      message: { body, ...(messageType && { contentType: messageType }) },
      output,
      ...(outputType && { outputType }),
    },
  }))
  const half = typed.find(({ sides }) => sides === 1)
  const examples: readonly Readonly<{ name: string; example: Example }>[] = [
    ...recorded,
    ...typed.filter(({ sides }) => sides === 2),
  ]
  const none = examples.length === 0 ? 'Paste a message and what it becomes first.' : undefined
  const lack = half && `${half.name} has one side only: give the other, or remove the pair.`
  return { examples, lack: lack ?? none }
}

const pairName = (index: number): string => `Pair ${index + 1}`
