/** New: a name, a path and a message become an endpoint, and the editor opens on it. */
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, lazy, Suspense, useEffect, useRef, useState } from 'react'
import { ApiFailure, asFailure } from '../../api/api-failure.ts'
import { createFromDraft, type DraftFormat, type DraftRequest, draftEndpoint } from '../../api/changes/draft-calls.ts'
import { queryParts, reload } from '../../api/query-keys.ts'
import { useMe } from '../../api/session.ts'
import { useVocabulary } from '../../api/vocabulary.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Dialog } from '../../ui/controls/dialog.tsx'
import { Checkbox, type Choice, SelectField, TextField } from '../../ui/controls/fields.tsx'
import { suggestPattern } from '../../ui/endpoint/pattern-of.ts'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { notify } from '../../ui/states/notices.tsx'

/** `sample`: the format that the message has. */
type GivenFormat = 'sample' | DraftFormat

/** It needs the drafts of the editor. */
const SampleList = lazy(() => import('./sample-list.tsx'))

type GivenRoute = Readonly<{ pattern?: string | undefined; method?: DraftRequest['method'] | undefined }>

const SAME: Choice<GivenFormat> = { value: 'sample', label: 'Same as the message' }

/** Places of faults that have a field here. */
const OWN_FIELDS = ['name', 'endpoint.pattern', 'sample']

/** `route`: what a message needs that no endpoint took. */
export function NewEndpointDialog({ route, onClose }: Readonly<{ route: GivenRoute; onClose(): void }>) {
  const { method = 'POST' } = route
  const navigate = useNavigate()
  const origin = useMe()?.messageOrigin ?? ''
  const [name, setName] = useState('')
  const [typedPattern, setPattern] = useState(route.pattern)
  const [format, setFormat] = useState<GivenFormat>('sample')
  const [sample, setSample] = useState('')
  const [isKept, setKept] = useState(true)
  const [isSample, setSampleShown] = useState(false)
  const [failure, setFailure] = useState<ApiFailure>()
  const { data: formats } = useVocabulary((vocabulary) => vocabulary.formats)
  const form = useRef<HTMLFormElement>(null)
  const [refusals, setRefusals] = useState(0)
  useEffect(() => {
    if (refusals > 0) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [refusals])
  /** A fault is about the text that was sent: a change of the text ends it. */
  const changed = (...locations: readonly string[]) =>
    setFailure((before) => before && withoutFaultsAt(before, locations))
  const pattern = typedPattern ?? suggestPattern(name)
  const hasSample = sample.trim() !== ''
  const { mutate, isPending } = useMutation({
    mutationFn: async () => {
      const request: DraftRequest = {
        name: name.trim(),
        pattern: pattern.trim(),
        method,
        ...(format !== 'sample' && { format }),
        ...(hasSample && { sample }),
      }
      const { id, test } = await createFromDraft(await draftEndpoint(request), isKept)
      await reload(queryParts.endpoints)
      notify(`Messages go to ${method} ${origin}${request.pattern} from now on.`)
      void navigate({ to: '/endpoints/$id/edit', params: { id }, search: test === undefined ? {} : { test } })
    },
    onMutate: () => setFailure(undefined),
    onError: (thrown) => {
      setFailure(asFailure(thrown))
      setRefusals((count) => count + 1)
    },
  })
  const create = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  const faultAt = (location: string) => {
    const messages = failure?.details.flatMap(({ path, message }) => (path === location ? [message] : [])) ?? []
    return messages.length === 0 ? undefined : messages.join(' ')
  }
  const choice = <Button text="Start from a sample" expanded={isSample} onPress={() => setSampleShown(!isSample)} />
  if (isSample) {
    return (
      <Dialog title="New endpoint" onClose={onClose}>
        <div className="row">{choice}</div>
        <Suspense>
          <SampleList />
        </Suspense>
      </Dialog>
    )
  }
  return (
    <Dialog title="New endpoint" onClose={onClose} isDismissable={false}>
      <div className="row">{choice}</div>
      {/* The browser would show one fault at a time; the service finds those of empty fields, too. */}
      <form ref={form} className="dialog-form" noValidate onSubmit={create}>
        <TextField
          label="Name"
          value={name}
          onChange={(text) => {
            setName(text)
            changed('name', ...(typedPattern === undefined ? ['endpoint.pattern'] : []))
          }}
          isRequired
          fault={faultAt('name')}
        />
        <TextField
          label="Path"
          value={pattern}
          onChange={(text) => {
            setPattern(text)
            changed('endpoint.pattern')
          }}
          isRequired
          placeholder="/orders"
          hint={`Messages are sent there by ${method}. “:id” matches any name.`}
          fault={faultAt('endpoint.pattern')}
        />
        <TextField
          label="A message as sent"
          value={sample}
          onChange={(text) => {
            setSample(text)
            changed('sample')
          }}
          rows={8}
          hint="Paste one if you have it: its fields are mapped to the same names."
          fault={faultAt('sample')}
        />
        <SelectField<GivenFormat>
          label="Format"
          value={format}
          choices={[SAME, ...(formats ?? []).map(({ name, title }) => ({ value: name, label: title }))]}
          onChange={(value) => {
            setFormat(value)
            changed('sample')
          }}
        />
        {hasSample && (
          <Checkbox checked={isKept} onChange={setKept}>
            Keep the message as the first test. It is stored as it is, for everybody who may view the endpoint.
          </Checkbox>
        )}
        <FailureNotice failure={failure} shown={OWN_FIELDS} />
        <div className="row to-end">
          <Button text="Begin with examples" onPress={() => void navigate({ to: '/endpoints/by-example' })} />
          <Button text="Cancel" onPress={onClose} />
          <Button text="Create endpoint" tone="primary" type="submit" busy={isPending} />
        </div>
      </form>
    </Dialog>
  )
}

/** Leaves no failure once all its faults are gone. */
function withoutFaultsAt(failure: ApiFailure, locations: readonly string[]): ApiFailure | undefined {
  const { status, code, details } = failure
  const left = details.filter(({ path = '' }) => !locations.includes(path))
  if (left.length === details.length) return failure
  if (left.length === 0) return undefined
  return new ApiFailure(failure.message, { status, details: left, ...(code !== undefined && { code }) })
}
