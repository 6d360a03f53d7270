/** Two texts side by side, loaded by the first view that shows them. */
import { lazy, Suspense } from 'react'
import { Loading } from '../states/states.tsx'
import type { DiffViewProps } from './diff-view.tsx'

const View = lazy(() => import('./diff-view.tsx').then(({ DiffView }) => ({ default: DiffView })))

export const LazyDiffView = (props: DiffViewProps) => (
  <Suspense fallback={<Loading what="Loading the comparison" />}>
    <View {...props} />
  </Suspense>
)
