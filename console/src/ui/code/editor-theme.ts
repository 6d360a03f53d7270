/** How the code editor looks: the colours are those of the page, so that it follows light and dark by itself. */
import { HighlightStyle } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView, highlightSpecialChars } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { HIDDEN, nameCodePoint } from '../text/text-parts.ts'

/** The nonce of the page: the editor adds styles of its own with it. */
export const styleNonce = (): string =>
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

export const editorColours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-value)' },
  { tag: tags.keyword, color: 'var(--code-name)' },
  { tag: tags.comment, color: 'var(--quiet)' },
  { tag: tags.invalid, color: 'var(--bad)' },
])

/** Signs and lines of faults as text: those of the editor are images in data URLs, which the policy of the page refuses. */
const faultStyles = Object.fromEntries(
  [
    ['error', 'bad', '✕'],
    ['warning', 'warn', '!'],
    ['info', 'accent', 'i'],
    ['hint', 'quiet', '·'],
  ].flatMap(([severity, colour, sign]) => [
    [`.cm-lint-marker-${severity}`, { content: 'normal', color: `var(--${colour})`, fontWeight: '700' }],
    [`.cm-lint-marker-${severity}::before`, { content: `"${sign}"` }],
    [
      `.cm-lintRange-${severity}`,
      { backgroundImage: 'none', textDecoration: `underline wavy var(--${colour})`, textDecorationSkipInk: 'none' },
    ],
  ]),
)

export const editorTheme = EditorView.theme({
  ...faultStyles,
  '.cm-lint-marker': { width: '1em', textAlign: 'center' },
  '.cm-diagnostic': { color: 'var(--text)' },
  '&': { color: 'var(--text)', backgroundColor: 'var(--paper)', fontSize: '0.875rem', height: '100%' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-gutters': { color: 'var(--quiet)', backgroundColor: 'var(--sunk)', borderRight: '1px solid var(--line)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--selection)', outline: '1px solid var(--edge)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--hover)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-ground)', outline: '1px solid var(--warn)' },
  '.cm-tooltip, .cm-panels': {
    color: 'var(--text)',
    backgroundColor: 'var(--paper)',
    border: '1px solid var(--edge)',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    color: 'var(--on-accent)',
    backgroundColor: 'var(--accent)',
  },
  '.cm-panels': { fontFamily: 'var(--sans)', borderWidth: '0 0 1px' },
  '.cm-panel.cm-search': { fontSize: '0.8125rem', padding: '0.4rem 2rem 0.4rem 0.5rem' },
  '.cm-panel.cm-search .cm-textfield': { width: '14rem', minHeight: '1.9rem', fontSize: 'inherit' },
  '.cm-textfield': { color: 'var(--text)', backgroundColor: 'var(--paper)', border: '1px solid var(--edge)' },
  '.cm-button': {
    color: 'var(--text)',
    backgroundColor: 'var(--paper)',
    backgroundImage: 'none',
    border: '1px solid var(--edge)',
    borderRadius: '6px',
    minHeight: '1.9rem',
  },
  '.cm-panel.cm-search [name=close]': { color: 'var(--text)', fontSize: '1.2rem', padding: '0 0.5rem' },
  '.cm-foldPlaceholder': { color: 'var(--quiet)', backgroundColor: 'var(--sunk)', border: '1px solid var(--line)' },
  '.cm-collapsedLines': { color: 'var(--quiet)', background: 'var(--sunk)', fontFamily: 'var(--sans)' },
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: '"⋯"' },
  '.cm-specialChar': { color: 'var(--bad)' },
  '.cm-changedLine, &.cm-merge-b .cm-changedLine, .cm-inlineChangedLine': { backgroundColor: 'var(--good-ground)' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-ground)' },
  '.cm-changedText, &.cm-merge-b .cm-changedText': {
    background: 'var(--good-ground)',
    outline: '1px solid var(--good)',
  },
  '.cm-deletedChunk .cm-deletedText': { background: 'var(--bad-ground)', outline: '1px solid var(--bad)' },
  '.cm-changedLineGutter': { background: 'var(--good)' },
  '.cm-deletedLineGutter': { background: 'var(--bad)' },
})

/** Shows invisible characters as their code points. */
export const visibleCharacters: Extension = highlightSpecialChars({
  specialChars: HIDDEN,
  render: (code, description) => {
    const mark = document.createElement('span')
    mark.className = 'hidden-character'
    mark.textContent = nameCodePoint(code)
    mark.title = description ?? ''
    return mark
  },
})
