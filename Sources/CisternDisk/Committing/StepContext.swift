/// The facts that a write transaction needs besides the file.
struct StepContext {
  let recency: RecencyBitmap
  /// The invalidation tables that have invalidations in force, by the generation of their partition.
  let invalidated: [Generation: InvalidationTable]
  /// The number of pages that the file may have. Nil for those of its map.
  let pageCount: Int?

  init(
    recency: RecencyBitmap = RecencyBitmap(capacity: 1), invalidated: [Generation: InvalidationTable] = [:],
    pageCount: Int? = nil
  ) {
    self.recency = recency
    self.invalidated = invalidated
    self.pageCount = pageCount
  }
}
