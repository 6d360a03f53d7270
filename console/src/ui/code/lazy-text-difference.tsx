/** The difference of two texts, loaded by the first view that shows one. */
import { lazy, Suspense } from 'react'
import { Loading } from '../states/states.tsx'
import type { TextDifferenceProps } from './text-difference.tsx'

const Difference = lazy(() => import('./text-difference.tsx').then((module) => ({ default: module.TextDifference })))

export const LazyTextDifference = (props: TextDifferenceProps) => (
  <Suspense fallback={<Loading what="Loading the comparison" />}>
    <Difference {...props} />
  </Suspense>
)
