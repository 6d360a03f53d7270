/** All keys of the console: views register theirs while they are shown, and the newest one for a key runs. */
import { useEffect, useEffectEvent } from 'react'
import { createChoice, createStore, useStore } from '../../api/store.ts'

export type KeyBinding = Readonly<{
  /** As `aria-keyshortcuts` has it: `j`, `?`, `F8`, `Control+Enter`. On a Mac, Command is Control too. */
  keys: string
  /** What the list of keys says. */
  what: string
  run(): void
}>

/** Names of keys that are written by a character count as single keys: they work outside text fields, and can be switched off. */
const isSingle = (keys: string): boolean => keys.length === 1

const bindings = createStore<readonly KeyBinding[]>([])
const singleKeys = createChoice('crosswalk-single-keys', ['on', 'off'])

/** Single keys can be switched off for this browser. */
export const useSingleKeys = (): readonly [on: boolean, set: (on: boolean) => void] => [
  useStore(singleKeys) === 'on',
  (on) => singleKeys.set(on ? 'on' : 'off'),
]

/** The keys that work now, the newest first. */
export const useBindings = (): readonly KeyBinding[] => useStore(bindings).toReversed()

/** A key that works while the component is shown; undefined registers none. */
export function useKey(keys: string, what: string, run: (() => void) | undefined): void {
  const call = useEffectEvent(() => run?.())
  const isOn = run !== undefined
  useEffect(() => {
    if (!isOn) return undefined
    const binding: KeyBinding = { keys, what, run: () => call() }
    bindings.set([...bindings.get(), binding])
    return () => bindings.set(bindings.get().filter((one) => one !== binding))
  }, [keys, what, isOn])
}

/** Listens to the keys of the page. Out: ends it. */
export function startKeymap(): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return
    const keys = formatKeys(event)
    if (isSingle(keys) && (singleKeys.get() === 'off' || isTyping(event.target) || isDialogOpen())) return
    if (isDialogOpen() && !isWithinDialog(event.target)) return
    const binding = bindings.get().findLast((one) => one.keys.toLowerCase() === keys.toLowerCase())
    if (binding === undefined) return
    event.preventDefault()
    binding.run()
  }
  document.addEventListener('keydown', onKeyDown)
  return () => document.removeEventListener('keydown', onKeyDown)
}

function formatKeys({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): string {
  const names = [ctrlKey || metaKey ? 'Control' : '', altKey ? 'Alt' : '', shiftKey && key.length > 1 ? 'Shift' : '']
  return [...names.filter((name) => name !== ''), key].join('+')
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable="true"]') !== null

const isDialogOpen = (): boolean => document.querySelector('[role="dialog"], [role="alertdialog"]') !== null

const isWithinDialog = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[role="dialog"], [role="alertdialog"]') !== null
