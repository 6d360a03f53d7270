/** Paths as documents write them, for messages that suggest a path. */
import type { PathStep } from './path.ts'

/** The text that parsePath reads as these steps. */
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
