/**
 * What the service, or a look at the text, had to say about a document: one entry a finding, which takes the cursor
 * to its place. Places are looked up when they are needed, because the text changes under them.
 *
 * @typedef {ReturnType<typeof import('./json-text.js').readJsonText>} Reading
 * @typedef {{ where: string, message: string, severity: 'fault' | 'warning',
 *   place: (reading: Reading) => { start: number, end: number } | undefined }} Shown
 */
import { byId, element } from './elements.js'
import { findPlace } from './json-place.js'
import { lineAndColumn, readJsonText } from './json-text.js'

/** Findings of the service, as it lists them. In a text that has come to be broken, the fault of the text is their place. */
export const findingsAt = (details, severity) =>
  details.map(({ path, message }) => ({
    where: path === '' ? 'whole document' : path,
    message,
    severity,
    place: (reading) => (reading.root === undefined ? brokenPlace(reading) : findPlace(reading.root, path)),
  }))

/** What keeps a text from being JSON: one finding or none. */
export function findingsInText(text) {
  const { fault } = readJsonText(text)
  if (fault === undefined) return []
  const { line, column } = lineAndColumn(text, fault.offset)
  const where = `Line ${line}, column ${column}`
  const message = `${fault.message[0].toUpperCase()}${fault.message.slice(1)}.`
  return [{ where, message, severity: 'fault', place: brokenPlace }]
}

const brokenPlace = ({ fault }) => (fault === undefined ? undefined : { start: fault.offset, end: fault.offset })

export function createFindings(area) {
  /** @type {Shown[]} */
  let findings = []

  const mark = (reading) => {
    const lines = new Map()
    for (const { place, severity } of findings) {
      const { line } = lineAndColumn(area.text, place(reading)?.start ?? 0)
      if (lines.get(line) !== 'fault') lines.set(line, severity)
    }
    area.mark(lines)
  }
  const goTo = ({ place }) => {
    const range = place(readJsonText(area.text))
    if (range !== undefined) area.goTo(range)
  }
  /** @param {Shown[]} shown */
  const show = (shown) => {
    findings = shown
    byId('findings').hidden = shown.length === 0
    byId('findings-title').textContent = countFindings(shown)
    byId('findings-list').replaceChildren(...shown.map((finding) => entry(finding, () => goTo(finding))))
    mark(readJsonText(area.text))
  }
  return {
    show,
    goToFirst: () => findings.slice(0, 1).forEach(goTo),
    /** Follows an edit: marks stay with what they mark, and the fault of a broken text goes when it is mended. */
    edited: () => {
      if (findings.some(({ place }) => place === brokenPlace)) return show(findingsInText(area.text))
      if (findings.length === 0) return
      const reading = readJsonText(area.text)
      if (reading.root !== undefined) mark(reading)
    },
  }
}

/** As in `2 faults, 1 warning`. */
export function countFindings(findings) {
  const faults = findings.filter(({ severity }) => severity === 'fault').length
  const count = (number, noun) => (number === 0 ? [] : [`${number} ${noun}${number === 1 ? '' : 's'}`])
  return [...count(faults, 'fault'), ...count(findings.length - faults, 'warning')].join(', ')
}

function entry({ where, message, severity }, onClick) {
  const button = element(
    'button',
    { type: 'button', class: `finding ${severity}` },
    element('span', { class: 'hidden' }, `${severity} at `),
    element('code', {}, where),
    element('span', { class: 'message' }, message),
  )
  button.addEventListener('click', onClick)
  return element('li', {}, button)
}
