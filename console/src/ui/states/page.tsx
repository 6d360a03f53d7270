/** The frame of a page: its title, its actions, and its content. */
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { Button } from '../controls/button.tsx'
import { VisibleText } from '../text/visible-text.tsx'

const HelpPopover = lazy(async () => ({ default: (await import('./page-help.tsx')).HelpPopover }))

export type PageProps = Readonly<{
  title: string
  /** Beside the title. */
  actions?: ReactNode
  /** Above the title: where this page belongs. */
  above?: ReactNode
  children: ReactNode
}>

let isFirst = true
/** On the way back the browser itself restores where the reader was. */
let isWayBack = false
addEventListener('popstate', () => {
  isWayBack = true
})

/** A new page takes the focus to its title, so that readers of the screen hear where they are. */
export function Page({ title, actions, above, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const helpButton = useRef<HTMLButtonElement>(null)
  const [isHelp, setHelp] = useState(false)
  useEffect(() => {
    document.title = `${title} – Crosswalk`
  }, [title])
  useEffect(() => {
    // At the first page the browser has its own idea of where to start.
    if (!isFirst) heading.current?.focus({ preventScroll: true })
    if (!isFirst && !isWayBack) scrollTo(0, 0)
    isFirst = false
    isWayBack = false
  }, [])
  return (
    <div className="page">
      {above}
      <div className="between">
        <div className="page-title">
          <h1 ref={heading} tabIndex={-1} dir="auto">
            <VisibleText text={title} max={300} />
          </h1>
          <Button ref={helpButton} label="Help with this page" tone="quiet" text="?" onPress={() => setHelp(true)} />
          {isHelp && (
            <Suspense>
              <HelpPopover button={helpButton} onClose={() => setHelp(false)} />
            </Suspense>
          )}
        </div>
        {actions === undefined ? null : <div className="row">{actions}</div>}
      </div>
      {children}
    </div>
  )
}
