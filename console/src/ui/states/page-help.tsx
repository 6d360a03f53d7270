/** Help in place: the words of a page, and its section of the guide, which the service serves itself. */
import { useQuery } from '@tanstack/react-query'
import { useMatches } from '@tanstack/react-router'
import type { ReactNode, RefObject } from 'react'
import { Dialog } from 'react-aria-components/Dialog'
import { Popover } from 'react-aria-components/Popover'
import { queries } from '../../api/queries.ts'
import { FailureNotice } from './failure-notice.tsx'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The section of docs/console.md about the page. */
    help?: string | undefined
  }
}

function useSection(): string | undefined {
  const help = useMatches({
    select: (matches) => matches.findLast(({ staticData }) => staticData.help)?.staticData.help,
  })
  return help === undefined ? undefined : `console#${help}`
}

const GuideLink = ({ to, children }: Readonly<{ to: string; children: ReactNode }>) => (
  <a href={`/console/docs/${to}`} target="_blank" rel="noreferrer">
    {children}
  </a>
)

type HelpPopoverProps = Readonly<{ button: RefObject<HTMLButtonElement | null>; onClose(): void }>

/** Below the button that opens it. */
export function HelpPopover({ button, onClose }: HelpPopoverProps) {
  const section = useSection()
  return (
    <Popover className="popover" triggerRef={button} placement="bottom start" isOpen onOpenChange={onClose}>
      <Dialog aria-label="Help with this page" className="popover-text flow">
        {section && <Words section={section} />}
        <GuideLinks />
      </Dialog>
    </Popover>
  )
}

/** The words of the glossary that name the section. */
function Words({ section }: Readonly<{ section: string }>) {
  const { data, error, refetch } = useQuery(queries.glossary)
  if (data === undefined) return <FailureNotice failure={error} onRetry={() => void refetch()} />
  return (
    <dl className="stack">
      {data
        .filter(({ links }) => links.some(({ to }) => to === section))
        .map(({ word, means, links: [chapter] }) => (
          <div key={word}>
            <dt>{chapter === undefined ? word : <GuideLink to={chapter.to}>{word}</GuideLink>}</dt>
            <dd>{means}</dd>
          </div>
        ))}
    </dl>
  )
}

export function GuideLinks() {
  const section = useSection()
  return (
    <p className="row">
      {section && <GuideLink to={section}>This page in the guide</GuideLink>}
      <GuideLink to="glossary">Glossary</GuideLink>
      <GuideLink to="">All pages of the guide</GuideLink>
    </p>
  )
}
