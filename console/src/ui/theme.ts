/** The colours of the page: those of the system, or the ones that the user chose for this browser. */
import { createChoice, createStore, useStore } from '../api/store.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const system = matchMedia('(prefers-color-scheme: dark)')
const theme = createChoice('crosswalk-theme', THEMES)

/** The colours that the page has now. Charts are drawn without styles, so they are drawn again when these change. */
export const scheme = createStore<'light' | 'dark'>('light')

function show(): void {
  const chosen = theme.get()
  const now = chosen === 'system' ? (system.matches ? 'dark' : 'light') : chosen
  // Before the listeners: they read the new colours.
  document.documentElement.setAttribute('data-scheme', now)
  scheme.set(now)
}

/** Once, before the page is drawn. */
export function startTheme(): void {
  system.addEventListener('change', show)
  theme.subscribe(show)
  show()
}

export const useTheme = (): readonly [theme: Theme, set: (theme: Theme) => void] => [useStore(theme), theme.set]
