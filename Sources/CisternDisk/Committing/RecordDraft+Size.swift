extension RecordDraft {
  /// The approximate number of bytes that the record occupies in the file.
  var footprint: Int { StepOutcome.footprint(size: size, key: key.count) }

  /// The approximate number of pages that writing the record touches.
  var pages: Int { 1 + overflowPages }

  /// The number of separate pages that the record takes.
  var overflowPages: Int { DiskLimits.overflowPages(size) }
}
