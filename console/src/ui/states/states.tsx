/** The frame of a page, and the states of its views: loading, empty, failed, and showing what it has while newer data loads. */
import { type UseQueryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useEffect, useId, useRef, useState } from 'react'
import { asFailure } from '../../api/api-failure.ts'
import type { AnswerKey } from '../../api/query-keys.ts'
import { Button } from '../controls/button.tsx'
import { VisibleText } from '../text/visible-text.tsx'
import { FailureNotice } from './failure-notice.tsx'

const SHOWN_AFTER_MS = 200

/** Shown after a moment only: most answers are faster. */
export function Loading({ what = 'Loading' }: Readonly<{ what?: string }>) {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <p className="loading" role="status" data-loading>
      {isShown ? `${what} …` : ''}
    </p>
  )
}

export type EmptyProps = Readonly<{
  title: string
  /** What the view is for. */
  children: ReactNode
  /** The one next step. */
  action?: ReactNode
}>

export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      <div className="empty-text">{children}</div>
      {action}
    </div>
  )
}

export type QueryViewProps<Data> = Readonly<{
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'isPending' | 'refetch'>
  what?: string
  children(data: Data): ReactNode
}>

/** The view of one query. Data that is there stays while it loads again, and under the failure of that. */
export function QueryView<Data>({ query, what, children }: QueryViewProps<Data>) {
  const { data, error, isPending, refetch } = query
  const failure = error === null ? undefined : asFailure(error)
  const retry = failure?.isRefusal ? undefined : () => void refetch()
  return (
    <>
      {failure === undefined ? null : <FailureNotice failure={failure} onRetry={retry} />}
      {data === undefined ? (
        isPending && failure === undefined ? (
          <Loading {...(what && { what })} />
        ) : null
      ) : (
        children(data)
      )}
    </>
  )
}

type AnswerProps<Data> = Pick<QueryViewProps<Data>, 'what' | 'children'> &
  Readonly<{ of: UseQueryOptions<Data, Error, Data, AnswerKey<Data>> }>

/** The view of an answer that is read for it alone; `of`: as for `useQuery`. */
export const Answer = <Data,>({ of, ...view }: AnswerProps<Data>) => <QueryView query={useQuery(of)} {...view} />

export type SectionProps = Readonly<{
  title: string
  /** On a ground of its own; `wide`: over the whole width of the page. */
  ground?: 'panel' | 'wide'
  children: ReactNode
}>

export function Section({ title, ground, children }: SectionProps) {
  const heading = useId()
  const className = ground === undefined ? 'stack' : ground === 'wide' ? 'panel consumers' : 'panel'
  return (
    <section className={className} aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      {children}
    </section>
  )
}

const HelpPopover = lazy(async () => ({ default: (await import('./page-help.tsx')).HelpPopover }))

type PageProps = Readonly<{
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
