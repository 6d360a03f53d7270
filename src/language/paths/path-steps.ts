/** The steps of paths and targets, which share one grammar. */
import { fault, found, type Result } from '../../core/lint.ts'
import type { PathStep } from '../../core/path-step.ts'

export type { PathStep } from '../../core/path-step.ts'

/** https://tc39.es/ecma262/#array-index */
const INDEX_BELOW = 2 ** 32 - 1

/** True if a name in a path is the index of an array element, such as `0` or `12`, but not `007`. */
export const isElementName = (name: string): boolean => /^(?:0|[1-9][0-9]*)$/.test(name) && Number(name) < INDEX_BELOW

/** Twice the nesting of a message (64); it bounds the recursion that reads and writes a path. */
const STEPS_MAX = 128
/** Longer indexes are not exact numbers. */
const INDEX_DIGITS_MAX = 15
/** Characters that a backslash escapes; before any other character, the backslash is a backslash. */
const SPECIAL = '.[]*?+\\'

/** The steps of a text; the first is a name or `any`. Fails with a sentence. */
export function parseSteps(text: string, noun: 'path' | 'target'): Result<readonly PathStep[]> {
  const steps: PathStep[] = []
  let at = 0
  for (;;) {
    const name = scanName(text, at, noun)
    if (!name.ok) return name
    steps.push(name.value.step)
    at = name.value.end
    while (text[at] === '[') {
      const bracket = scanBracket(text, at, noun)
      if (!bracket.ok) return bracket
      steps.push(bracket.value.step)
      at = bracket.value.end
    }
    if (steps.length > STEPS_MAX) return fault(`This ${noun} has more than ${STEPS_MAX} steps; shorten it.`)
    if (at === text.length) return found(steps)
    if (text[at] !== '.') {
      return fault(`The ${noun} "${text}" continues after "]" at position ${at + 1}; only "." or "[" can follow.`)
    }
    at += 1
  }
}

type Scanned = Readonly<{ step: PathStep; end: number }>

function scanName(text: string, start: number, noun: string): Result<Scanned> {
  let name = ''
  let escaped = false
  let at = start
  for (; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '.' || char === '[') break
    if (char === ']') {
      return fault(
        `The ${noun} "${text}" has a "]" without its "[" at position ${at + 1}; write "\\]" for one within a name.`,
      )
    }
    const next = text.charAt(at + 1)
    if (char === '\\' && next !== '' && SPECIAL.includes(next)) {
      name += next
      escaped = true
      at += 1
    } else name += char
  }
  if (name !== '') return found({ step: name === '*' && !escaped ? { kind: 'any' } : { kind: 'name', name }, end: at })
  if (text === '') return fault(`An empty text is not a ${noun}; write names joined by dots.`)
  return fault(
    `The ${noun} "${text}" lacks a name at position ${start + 1}; write one there, or "\\." for a dot within a name.`,
  )
}

function scanBracket(text: string, start: number, noun: string): Result<Scanned> {
  const end = text.indexOf(']', start)
  if (end === -1) {
    return fault(
      `The ${noun} "${text}" has a "[" without its "]" at position ${start + 1}; write "\\[" for one within a name.`,
    )
  }
  const inside = text.slice(start + 1, end)
  if (inside === '') return found({ step: { kind: 'each' }, end: end + 1 })
  if (!isDigits(inside) || inside.length > INDEX_DIGITS_MAX) {
    return fault(
      `The ${noun} "${text}" has "[${inside}]" at position ${start + 1}; only an index, such as "[0]", or "[]" is allowed there.`,
    )
  }
  return found({ step: { kind: 'index', index: Number(inside) }, end: end + 1 })
}

function isDigits(text: string): boolean {
  for (const char of text) if (char < '0' || char > '9') return false
  return true
}

/** The text that `parseSteps` reads as these steps. */
export function pathText(steps: readonly PathStep[]): string {
  let text = ''
  for (const step of steps) {
    if (step.kind === 'index') text += `[${step.index}]`
    else if (step.kind === 'each') text += '[]'
    else text += `${text === '' ? '' : '.'}${step.kind === 'any' ? '*' : nameText(step.name)}`
  }
  return text
}

const nameText = (name: string): string => (name === '*' ? '\\*' : name.replace(/[.[\]\\]/g, '\\$&'))
