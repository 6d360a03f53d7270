/** Completion and hover of the document and of expressions, for CodeMirror. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { EditorState, type Extension } from '@codemirror/state'
import { hoverTooltip } from '@codemirror/view'
import {
  type MessagePath,
  meaningAt,
  type Vocabulary,
  type VocabularyField,
  type Word,
  wordsAt,
} from './document-words.ts'

/** What is known now; read at each completion, so that the editor need not be set up anew. */
export type Knowledge = Readonly<{ vocabulary: Vocabulary | undefined; paths: readonly MessagePath[] }>

/** CodeMirror knows a source by its identity, so each is made once. */
const createSource = (complete: (context: CompletionContext) => CompletionResult | null): Extension => {
  const data = [{ autocomplete: complete }]
  return EditorState.languageData.of(() => data)
}

export const documentAssist = (knowledge: () => Knowledge): Extension => [
  createSource((context) => completeDocument(context, knowledge())),
  hoverTooltip((view, offset) => {
    const { vocabulary } = knowledge()
    const field = vocabulary && meaningAt(view.state.doc.toString(), offset, vocabulary)
    return field === undefined ? null : { pos: offset, create: () => ({ dom: describeField(field) }) }
  }),
]

function completeDocument(
  { state, pos, explicit }: CompletionContext,
  { vocabulary, paths }: Knowledge,
): CompletionResult | null {
  if (vocabulary === undefined) return null
  const text = state.doc.toString()
  const before = text[pos - 1] ?? ''
  if (!explicit && !/["\w.$]/.test(before)) return null
  const found = wordsAt(text, pos, vocabulary, paths)
  if (found === undefined || found.words.length === 0) return null
  return { from: found.from, to: found.to, filter: false, options: matching(found.words, text.slice(found.from, pos)) }
}

/** What is typed between quotes is part of a name or value: the words are matched without them. */
function matching(words: readonly Word[], typed: string): Completion[] {
  const wanted = typed.replace(/^"|"$/g, '').toLowerCase()
  return words
    .map((word) => ({ word, at: word.label.toLowerCase().indexOf(wanted) }))
    .filter(({ at }) => at !== -1)
    .toSorted((one, other) => one.at - other.at)
    .slice(0, 100)
    .map(({ word }) => toCompletion(word))
}

function toCompletion({ label, insert, detail, info, kind }: Word): Completion {
  return {
    label,
    type: kind,
    ...(detail && { detail }),
    ...(info && { info }),
    apply: (view, _completion, from, to) => {
      // Within the empty text or brackets that were just written.
      const inside = /(?:""|\{\}|\[\])$/.test(insert) ? insert.length - 1 : insert.length
      view.dispatch({
        changes: { from, to, insert },
        selection: { anchor: from + inside },
        userEvent: 'input.complete',
      })
    },
  }
}

/** As text nodes only. */
function describeField({
  path,
  type,
  description,
  default: fallback,
  assumed,
  enum: values,
  examples,
  required,
}: VocabularyField) {
  const dom = document.createElement('div')
  dom.className = 'field-meaning'
  const line = (text: string, className?: string) => {
    const element = document.createElement('p')
    element.textContent = text
    if (className !== undefined) element.className = className
    dom.append(element)
  }
  line([path, type, required ? 'required' : ''].filter(Boolean).join(' · '), 'field-path')
  if (description !== undefined) line(description)
  if (values !== undefined) line(`One of ${values.map((value) => JSON.stringify(value)).join(', ')}.`)
  if (fallback !== undefined) line(`Default: ${JSON.stringify(fallback)}`)
  else if (assumed !== undefined) line(`If left out: ${assumed}`)
  if (examples?.[0] !== undefined) line(`Example: ${JSON.stringify(examples[0])}`)
  return dom
}

/** Of a JSONata expression: functions after `$`, else paths of the loaded message. */
export const expressionAssist = (knowledge: () => Knowledge): Extension =>
  createSource((context) => completeExpression(context, knowledge()))

function completeExpression(context: CompletionContext, { vocabulary, paths }: Knowledge): CompletionResult | null {
  const word = context.matchBefore(/[$\w.[\]\\]+/)
  if (vocabulary === undefined || (word === null && !context.explicit)) return null
  const roots = vocabulary.roots.transform?.roots ?? []
  const readable = paths
    .filter(({ path }) => roots.some((root) => path === root || path.startsWith(`${root}.`)))
    // JSONata maps over an array by itself.
    .map(({ path, sample }) => ({ label: path.replaceAll('[]', ''), type: 'variable', detail: sample }))
  const functions = vocabulary.expressionFunctions.map(({ name, parameters = [], signature }) => ({
    label: name,
    type: 'function',
    detail: `(${parameters.join(', ')})`,
    ...(signature !== undefined && { info: signature }),
    apply: `${name}(`,
  }))
  return { from: word?.from ?? context.pos, options: [...functions, ...readable] }
}
