/** The colours of the page: those of the system, or the ones that the user chose for this browser. */
import { createStore, useStore } from '../api/store.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const NAME = 'crosswalk-theme'
const system = matchMedia('(prefers-color-scheme: dark)')

function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(NAME)
    return THEMES.find((theme) => theme === stored) ?? 'system'
  } catch {
    // A browser may forbid storage; the choice then holds until the page loads again.
    return 'system'
  }
}

const theme = createStore(readTheme())

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

export const useTheme = (): readonly [theme: Theme, set: (theme: Theme) => void] => [useStore(theme), takeTheme]

function takeTheme(chosen: Theme): void {
  theme.set(chosen)
  try {
    if (chosen === 'system') localStorage.removeItem(NAME)
    else localStorage.setItem(NAME, chosen)
  } catch {
    // As in readTheme.
  }
}
