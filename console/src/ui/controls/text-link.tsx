/** A link within the console whose content is one text or element. */
import { createLink } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'

const Anchor = ({ text, ...given }: Omit<ComponentProps<'a'>, 'children'> & Readonly<{ text: ReactNode }>) => (
  <a {...given}>{text}</a>
)

export const TextLink = createLink(Anchor)
