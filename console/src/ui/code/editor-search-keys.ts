/** Search and replace within an editor, and marks on the matches of the selection. */
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import type { Extension } from '@codemirror/state'
import { keymap } from '@codemirror/view'

export const editorSearch: Extension = [highlightSelectionMatches(), search({ top: true }), keymap.of(searchKeymap)]
