/** What an endpoint's mapping is looked at with: kept for a reload and a later visit in the same tab. Signing out removes it. */
import { useEffect, useEffectEvent, useState } from 'react'
import { useMe } from '../../api/session.ts'
import type { Draft } from '../../draft/draft.ts'
import { keep, readKept } from '../../draft/kept-drafts.ts'
import { notify } from '../../ui/states/notices.tsx'
import type { TypedBody } from './dialogs/message-dialog.tsx'
import type { WantedOutput } from './dialogs/target-dialog.tsx'

export type KeptData = Readonly<{
  /** The recorded message that was shown last; undefined if it was a typed one or none. */
  message?: string | undefined
  typed?: TypedBody | undefined
  wanted?: WantedOutput | undefined
  /** Percent of the window's height that the picture has. */
  height?: number | undefined
}>

/** Of drafts whose data the browser may have no room for. */
const open = new WeakMap<Draft, KeptData>()

/** `message`: the one that the URL names. `show`: puts another into the URL, if that names no data. */
export function useKeptData(draft: Draft, message: string | undefined, show: (message: string) => void) {
  const who = useMe()?.who ?? ''
  const name = `mapping:${draft.id}`
  const [kept, setKept] = useState<KeptData>(() => open.get(draft) ?? readKept(name, who) ?? {})
  const change = (changes: KeptData) => {
    const next = { ...kept, ...changes }
    setKept(next)
    open.set(draft, next)
    if (!keep(name, { ...next, who })) notify('The browser has no room for this: a reload loses it.', 'warn')
  }
  const follow = useEffectEvent(() => {
    if (message !== undefined && message !== kept.message) change({ message })
    if (message === undefined && kept.message !== undefined) show(kept.message)
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the event reads the message
  useEffect(() => follow(), [message])
  return [kept, change] as const
}
