/** Two texts beside each other, loaded by the first view that shows them. */
import { lazy, Suspense } from 'react'
import { Loading } from '../states/states.tsx'
import type { SideBySideProps } from './side-by-side.tsx'

const Compared = lazy(() => import('./side-by-side.tsx').then(({ SideBySide }) => ({ default: SideBySide })))

export const LazySideBySide = (props: SideBySideProps) => (
  <Suspense fallback={<Loading what="Loading the comparison" />}>
    <Compared {...props} />
  </Suspense>
)
