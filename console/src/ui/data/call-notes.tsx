/** Where the answer of a call came from, and its token. */
import { VisibleText } from '../text/visible-text.tsx'

type CallOrigin = Readonly<{
  cached?: boolean
  stale?: string | number
  token?: Readonly<{ from: string; how: string }>
}>

export function CallNotes({ call: { cached, stale, token } }: Readonly<{ call: CallOrigin }>) {
  return (
    <>
      {cached && (
        <div>{stale === undefined ? 'From the cache.' : `From the cache, as the target failed: ${stale}.`}</div>
      )}
      {token === undefined ? null : (
        <div>
          Token of <VisibleText text={token.from} max={300} />: {token.how}
        </div>
      )}
    </>
  )
}
