/** What an editor has a moment after its text is shown: completion, pairs of brackets, search and replace. */
import { autocompletion, closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import type { Extension } from '@codemirror/state'
import { keymap } from '@codemirror/view'

export const editorAdditions: Extension = [
  closeBrackets(),
  autocompletion(),
  highlightSelectionMatches(),
  search({ top: true }),
  keymap.of([...closeBracketsKeymap, ...searchKeymap]),
]
