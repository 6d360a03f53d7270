/** A body or another long value as text: as it is, or laid out if it is JSON. Of a long one, parts are shown as asked for. */
import { useMemo, useState } from 'react'
import { lazyView } from '../code/lazy-views.tsx'
import { Button } from '../controls/button.tsx'
import { TextParts } from '../text/visible-text.tsx'
import { copyText, downloadText } from './clipboard.ts'
import { layOutJson } from './json-layout.ts'
import { byteCount } from './time.tsx'

const LazyBodyTree = lazyView('Loading the tree', async () => (await import('./body-tree.tsx')).BodyTree)

/** Nothing longer is parsed in the page. */
const MAX_PARSED_CHARACTERS = 1_048_576
const SHOWN_AT_FIRST = 65_536
const SHOWN_MORE = 262_144

export type TextViewerProps = Readonly<{
  text: string
  /** What the text is, such as "Request body". */
  label: string
  /** Of the downloaded file; never a name that a message gave. */
  fileName: string
  /** Its size as the service counted it, if the text is only a part. */
  bytes?: number
  /** What is downloaded, if the text is not all of it byte by byte. */
  content?: Blob
  /** What paths of its values start with, such as `requestBody`. */
  root?: string
}>

export function TextViewer({ text, label, fileName, bytes, content, root = '' }: TextViewerProps) {
  const [isTree, setTree] = useState(false)
  const [isRaw, setRaw] = useState(false)
  const [max, setMax] = useState(SHOWN_AT_FIRST)
  const laidOut = useMemo(() => (text.length <= MAX_PARSED_CHARACTERS ? layOutJson(text) : undefined), [text])
  const whole = isRaw ? text : (laidOut ?? text)
  const shown = withLineFeeds(whole.slice(0, max))
  return (
    <div className="text-viewer">
      <div className="text-viewer-bar row">
        <span className="quiet">{byteCount(bytes ?? new Blob([text]).size)}</span>
        {laidOut !== undefined && /^\s*[[{]/.test(text) && (
          <Button text="Tree" tone="quiet" pressed={isTree} onPress={() => setTree(!isTree)} />
        )}
        {laidOut !== undefined && laidOut !== text && !isTree && (
          <Button text="As sent" tone="quiet" pressed={isRaw} onPress={() => setRaw(!isRaw)} />
        )}
        <Button text="Copy" tone="quiet" onPress={() => void copyText(text, label)} />
        <Button text="Download" tone="quiet" onPress={() => downloadText(content ?? text, fileName)} />
      </div>
      {isTree && laidOut !== undefined ? (
        <LazyBodyTree key={text} text={text} label={label} root={root} />
      ) : (
        // A region that scrolls must be reachable by keys.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
        <pre className="text-viewer-text" tabIndex={0} aria-label={label} role="group" dir="ltr">
          <TextParts text={shown} />
        </pre>
      )}
      {whole.length > max && !isTree && (
        <div className="more-rows row">
          <p role="status">
            {max.toLocaleString('en')} of {whole.length.toLocaleString('en')} characters
          </p>
          <Button text="Show more" onPress={() => setMax(max + SHOWN_MORE)} />
        </div>
      )}
    </div>
  )
}

/** Each end of a line as one that a page breaks at: HL7 v2 ends lines with a carriage return alone. */
const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n')
