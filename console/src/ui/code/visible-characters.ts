/** Shows invisible characters in editors as their code points. */
import type { Extension } from '@codemirror/state'
import { highlightSpecialChars } from '@codemirror/view'
import { HIDDEN, nameCodePoint } from '../text/text-parts.ts'

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
