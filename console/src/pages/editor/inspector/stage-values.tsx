/** What a stage got or gave, by the names under which the document reads it. */
import { useState } from 'react'
import { type ApiFailure, asFailure } from '../../../api/api-failure.ts'
import { dryRunValue } from '../../../api/run-calls.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { TextViewer } from '../../../ui/data/text-viewer.tsx'
import { FailureNotice } from '../../../ui/states/failure-notice.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { valueRequest } from '../run/run-request.ts'

export type StageValuesProps = Readonly<{
  values: Readonly<Record<string, unknown>> | undefined
  /** `validate input`: of labels and file names. */
  what: string
  /** The request of the run: a value that was cut is asked for again with it. */
  request: string
}>

/** Shown closed: they are the same at each stage. */
const ASIDE: ReadonlySet<string> = new Set(['requestHeaders', 'timestamps', 'query', 'urlParams', 'constants', 'state'])
const FIRST = ['body', 'output', 'responseBody', 'transforms', 'requestBody', 'lookupRequests']

const rank = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length)

export function StageValues({ values, what, request }: StageValuesProps) {
  const { cut, at, ...given } = values ?? {}
  const names = Object.keys(given).toSorted((one, other) => rank(one) - rank(other))
  const aside = names.filter((name) => ASIDE.has(name))
  if (names.length === 0) return <p className="quiet">Nothing.</p>
  const view = (name: string) => {
    const value = given[name]
    // The bytes that were received are beside their cut, other values in place of it.
    const cutAt = name === 'body' && cut === true ? String(at) : undefined
    return <OneValue key={name} name={name} value={value} cutAt={cutAt} what={what} request={request} />
  }
  return (
    <div className="stage-values">
      {names.filter((name) => !ASIDE.has(name)).map(view)}
      {aside.length > 0 && (
        <details>
          <summary>
            {aside.length === names.length ? 'Also: ' : 'And '}
            {aside.join(', ')}
          </summary>
          {aside.map(view)}
        </details>
      )}
    </div>
  )
}

type OneValueProps = Readonly<{
  name: string
  value: unknown
  cutAt: string | undefined
  what: string
  request: string
}>

function OneValue({ name, value, cutAt, what, request }: OneValueProps) {
  const cut = findCut(value)
  const at = cutAt ?? cut?.at
  const label = `${name} of ${what}`
  const fileName = `${what}-${name}`.replace(/[^A-Za-z0-9]+/g, '-')
  return (
    <section aria-label={label}>
      <h3>
        <VisibleText code text={name} max={200} />
      </h3>
      {cut === undefined ? (
        <TextViewer text={formatValue(value)} label={label} fileName={`${fileName}.txt`} />
      ) : (
        <p className="quiet">Not shown here: {cut.reason}</p>
      )}
      {at === undefined ? null : <WholeValue at={at} label={label} fileName={`${fileName}.txt`} request={request} />}
    </section>
  )
}

const formatValue = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')

function findCut(value: unknown): Readonly<{ reason: string; at: string }> | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { cut, reason, at } = value as Readonly<Record<string, unknown>>
  return cut === true && typeof reason === 'string' && typeof at === 'string' ? { reason, at } : undefined
}

type WholeValueProps = Readonly<{ at: string; label: string; fileName: string; request: string }>

/** The dry run is made once more for it, so it is asked for by the user. */
export function WholeValue({ at, label, fileName, request }: WholeValueProps) {
  const [text, setText] = useState<string>()
  const [failure, setFailure] = useState<ApiFailure>()
  const [busy, setBusy] = useState(false)
  const load = () => {
    setBusy(true)
    setFailure(undefined)
    dryRunValue(valueRequest(request, at))
      .then(setText, (thrown: unknown) => setFailure(asFailure(thrown)))
      .finally(() => setBusy(false))
  }
  if (text !== undefined) return <TextViewer text={text} label={label} fileName={fileName} />
  return (
    <>
      <Button text="Show the whole value" busy={busy} onPress={load} />
      {failure === undefined ? null : <FailureNotice failure={failure} />}
    </>
  )
}
