/** The text of a document: line numbers beside it, marks on the lines with findings, and a cursor that can be sent. */
import { byId, element } from './elements.js'
import { lineAndColumn } from './json-text.js'

export function createTextArea(onEdit) {
  const area = byId('text')
  const numbers = byId('numbers')
  let marked = new Map()
  let drawn = ''

  const draw = () => {
    const lines = area.value.split('\n').length
    const key = `${lines} ${JSON.stringify([...marked])}`
    if (key !== drawn) numbers.replaceChildren(...lineNumbers(lines, marked))
    drawn = key
    numbers.scrollTop = area.scrollTop
  }
  area.addEventListener('input', () => {
    draw()
    onEdit()
  })
  area.addEventListener('scroll', () => {
    numbers.scrollTop = area.scrollTop
  })

  return {
    get text() {
      return area.value
    },
    set: (text) => {
      area.value = text
      area.setSelectionRange(0, 0)
      area.scrollTo(0, 0)
      draw()
    },
    /** Replaces the text by another form of it: the cursor and the view stay about where they are. */
    reset: (text) => {
      // Setting the value makes the browser forget what can be undone.
      if (area.value === text) return
      const { scrollTop, selectionStart } = area
      area.value = text
      area.setSelectionRange(selectionStart, selectionStart)
      area.scrollTop = scrollTop
      draw()
    },
    /** Takes the cursor to a range of the text and into view. */
    goTo: ({ start, end }) => {
      area.focus()
      area.setSelectionRange(start, end)
      const { lineHeight, fontSize } = getComputedStyle(area)
      const { line, column } = lineAndColumn(area.value, start)
      area.scrollTop = (line - 1) * Number.parseFloat(lineHeight) - area.clientHeight / 3
      // A character of a monospace font is about 0.6 of its size wide.
      area.scrollLeft = (column + 10) * Number.parseFloat(fontSize) * 0.6 - area.clientWidth
    },
    /** @param {Map<number, 'fault' | 'warning'>} lines what to mark, by line from 1 */
    mark: (lines) => {
      marked = lines
      draw()
    },
  }
}

function lineNumbers(lines, marked) {
  const parts = []
  let plain = ''
  for (let line = 1; line <= lines; line += 1) {
    const severity = marked.get(line)
    if (severity === undefined) plain += `${line}\n`
    else {
      parts.push(plain, element('span', { class: `marked ${severity}` }, `${line}`), '\n')
      plain = ''
    }
  }
  return [...parts, plain]
}
