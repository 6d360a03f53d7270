/** Warns of `${…}` in texts where nothing fills it: other languages fill such templates, and here it is used unchanged. */
import { isObject, type Json } from '../../../core/json.ts'
import type { LintSink } from '../../../core/lint.ts'
import { almostReference, withoutReferences } from '../../../core/secrets/secrets.ts'
import { collectTextReads } from '../../../language/jsonata/expression-engine.ts'
import type { Endpoint } from '../../schema/schema.ts'

type TextKind = 'secrets' | 'url' | 'expression' | 'text'

/** Fields for people, and those with texts of their own: patterns of schemas, and credentials. */
const UNREAD: ReadonlySet<string> = new Set(['description', 'inputValidation', 'auth'])

/** Lints, as warnings: each text with a `${…}` that is no reference to a secret, or that is in a place without secrets. */
export function lintUnfilledTexts(
  { constants, inputTransforms = {}, requests, ...others }: Endpoint,
  lint: LintSink,
): void {
  const filled = Object.values(inputTransforms).filter((text) => FILLS.test(text))
  lintConstants(constants, filled, lint.at('constants'))
  for (const [name, text] of Object.entries(inputTransforms)) {
    if (!filled.includes(text)) lintExpression(text, lint.at('inputTransforms', name))
  }
  for (const kind of ['lookup', 'response'] as const) {
    for (const [index, { config, ...fields }] of requests[kind].entries()) {
      const sink = lint.at('requests', kind, index)
      // Patterns of schemas are texts of their own.
      lintTexts({ ...fields, validation: null } as Json, 'text', sink)
      if (config === undefined) continue
      const { url, headers, auth, ...parameters } = config
      if (url !== undefined) lintText(url, 'url', sink.at('config', 'url'))
      lintTexts(headers ?? {}, 'secrets', sink.at('config', 'headers'))
      lintTexts(auth, 'secrets', sink.at('config', 'auth'))
      lintTexts(parameters as Json, 'text', sink.at('config'))
    }
  }
  for (const [name, value] of Object.entries(others)) {
    if (!UNREAD.has(name)) lintTexts(value as Json, 'text', lint.at(name))
  }
}

/** Calls of functions with which an expression fills a template, or looks for one. */
const FILLS = /\$(?:replace|contains|split|match)\s*\(/

/** Leaves out the constants that the expressions `filled` read. */
function lintConstants(constants: Endpoint['constants'], filled: readonly string[], lint: LintSink): void {
  const read = new Set(JSON.stringify(constants).includes('${') ? filled.flatMap(findConstants) : [])
  for (const [name, value] of Object.entries(constants)) {
    if (!read.has(name)) lintTexts({ [name]: value }, 'secrets', lint)
  }
}

const findConstants = (text: string): readonly string[] =>
  collectTextReads(text).references.flatMap(([root, name = '']) => (root === 'constants' ? [name] : []))

const LITERAL = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/gs
function lintExpression(text: string, lint: LintSink): void {
  for (const [literal] of text.matchAll(LITERAL)) lintText(literal, 'expression', lint)
}

const TEMPLATE = /\$\{[^{}]{1,100}\}/

function lintTexts(value: Json | undefined, textKind: TextKind, lint: LintSink): void {
  if (typeof value === 'string') lintText(value, textKind, lint)
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) lintTexts(item, textKind, lint.at(index))
  else if (isObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      lintText(name, 'text', lint.at(name))
      if (name === 'when' && typeof inner === 'string' && textKind === 'text') lintExpression(inner, lint.at(name))
      else lintTexts(inner, textKind, lint.at(name))
    }
  }
}

function lintText(text: string, textKind: TextKind, lint: LintSink): void {
  if (!text.includes('${')) return
  const hasSecrets = textKind === 'secrets' || textKind === 'url'
  if (hasSecrets && almostReference(text) !== undefined) return
  const [template] = TEMPLATE.exec(hasSecrets ? withoutReferences(text) : text) ?? []
  if (template === undefined) return
  lint.warning(`Nothing fills "${template}" here, and it is used unchanged. ${adviceFor(template, textKind)}`)
}

function adviceFor(template: string, textKind: TextKind): string {
  if (template.startsWith('${value:')) {
    return 'The command line fills it for a target of "crosswalk.json"; publish the document with "crosswalk apply", or write the value.'
  }
  if (/^\$\{(?:env|file):/.test(template)) {
    return 'Secrets are filled in "constants", URLs, headers and "auth" only; put it in "constants", and read it there.'
  }
  if (textKind === 'url') return 'Write a placeholder, such as ":id", and the path of its value in "config.params.url".'
  if (textKind === 'expression') return 'Join texts with "&", such as "Dr " & requestBody.name.'
  return 'Read the value by its path, or join texts in an expression of "inputTransforms".'
}
