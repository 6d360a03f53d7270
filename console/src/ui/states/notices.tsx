/** Short notices of what was done. A good one goes by itself; one that must be read stays until it is dismissed. */
import type { ReactNode } from 'react'
import { createStore, useStore } from '../../api/store.ts'
import { Button } from '../controls/button.tsx'

type Notice = Readonly<{ id: number; text: string; tone: 'good' | 'warn'; link: ReactNode }>

const GOES_AFTER_MS = 8_000
const MAX_NOTICES = 4

const notices = createStore<readonly Notice[]>([])
let serial = 0

const dismiss = (id: number): void => notices.set(notices.get().filter((notice) => notice.id !== id))

/**
 * Shows a notice, from anywhere. `text` is shown as text. `link`: where the reader may go next; a notice with one stays until
 * it is followed or dismissed.
 */
export function notify(text: string, tone: Notice['tone'] = 'good', link?: ReactNode): void {
  serial += 1
  const id = serial
  notices.set([...notices.get(), { id, text, tone, link }].slice(-MAX_NOTICES))
  if (tone === 'good' && link === undefined) setTimeout(() => dismiss(id), GOES_AFTER_MS)
}

/** Notes what was stored, and what the service warns of. */
export const notifyStored = (
  text: string,
  warnings: readonly Readonly<{ message: string }>[],
  link?: ReactNode,
): void =>
  notify([text, ...warnings.map(({ message }) => message)].join(' '), warnings.length === 0 ? 'good' : 'warn', link)

/** Where notices appear; the shell has it once. */
export function NoticeRegion() {
  const shown = useStore(notices)
  return (
    <div className="notices" role="status" aria-live="polite">
      {shown.map(({ id, text, tone, link }) => (
        <div key={id} className={`notice between ${tone}`}>
          <span>
            {text}
            {link !== undefined && (
              // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the link within takes the keys
              <span onClick={() => dismiss(id)}> {link}</span>
            )}
          </span>
          <Button text="×" tone="quiet" label="Dismiss" onPress={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
