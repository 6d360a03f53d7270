/** What every field of a form needs: the draft, its faults, and what can be typed. */
import type { Node } from 'jsonc-parser'
import { createContext, type ReactNode, useContext } from 'react'
import { type Place, pathName } from '../../../draft/json-places.ts'
import type { FormField } from './form-fields.ts'

export type FormContext = Readonly<{
  root: Node | undefined
  /** Changes the text of the draft as one step of undo; what is typed on at once joins the step before. */
  change(edit: (text: string) => string): void
  /** Sets a value; undefined removes it. */
  set(place: Place, value: unknown): void
  /** What is wrong at a path; `below`: or anywhere within it. */
  faultAt(path: string, below?: boolean): string | undefined
  /** Texts of a field, or names of a map. */
  suggestionsFor(field: FormField, place: Place): readonly string[] | undefined
  /** A link to the text of a path. */
  linkTo(path: string): ReactNode
  /** What a field has besides its form. */
  renderExtra(field: FormField, place: Place): ReactNode
}>

export const FormContext = createContext<FormContext | undefined>(undefined)

export function useForm(): FormContext {
  const form = useContext(FormContext)
  if (form === undefined) throw new Error('There is no form around this field.')
  return form
}

/** The path of a place, as faults have it. */
export const placePath = (place: Place): string =>
  place.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`
    return path === '' ? pathName(step) : `${path}.${pathName(step)}`
  }, '')
