/** Where a text is not JSON: the service reads documents only as a whole. */
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import type { Span } from './json-places.ts'

export type SyntaxFault = Span & Readonly<{ message: string }>

const MESSAGES: Readonly<Record<string, string>> = {
  PropertyNameExpected: 'Expected a name in double quotes here.',
  ValueExpected: 'Expected a value here.',
  ColonExpected: 'Expected a colon between a name and its value.',
  CommaExpected: 'Expected a comma between two members or elements.',
  CloseBraceExpected: 'This object has no closing brace.',
  CloseBracketExpected: 'This array has no closing bracket.',
  EndOfFileExpected: 'Nothing may follow the document.',
  InvalidCommentToken: 'JSON has no comments.',
  UnexpectedEndOfComment: 'JSON has no comments.',
  UnexpectedEndOfString: 'This text has no closing quote.',
  UnexpectedEndOfNumber: 'This number is not complete.',
  InvalidUnicode: 'This escape of a character is not complete.',
  InvalidEscapeCharacter: 'This escape is unknown in JSON.',
  InvalidCharacter: 'This control character must be escaped.',
}

/** The faults of a text in their order; none if it is JSON. */
export function syntaxFaults(text: string): readonly SyntaxFault[] {
  const errors: ParseError[] = []
  parse(text, errors, { disallowComments: true, allowTrailingComma: false })
  return errors.map(({ error, offset, length }) => ({
    from: Math.min(offset, text.length),
    to: Math.min(offset + Math.max(1, length), text.length),
    message: MESSAGES[printParseErrorCode(error)] ?? 'This is not JSON.',
  }))
}
