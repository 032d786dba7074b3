extension Property {
  /// A write that no tier takes is readable nowhere, once it has ended. A batch of such writes throws.
  static let lostWritesStayOut = Property("lost writes stay out of the cache") { evidence in
    if evidence.combination.kind.keepsWrites { return [] }
    let record = evidence.record
    let batches = record.acceptedBatches == 0 ? [] : ["no tier takes writes, but a batch returned without an error"]
    return batches
      + [evidence.shown, evidence.found, evidence.behindMemory].compactMap { document in
        let isLost = document?.marks.contains { record.marks[$0]?.author != .situation } ?? false
        guard let document, isLost else { return nil }
        return "no tier takes writes, but the cache returns \(document)"
      }
  }
}
