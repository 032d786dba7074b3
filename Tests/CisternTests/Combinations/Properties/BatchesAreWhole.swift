extension Property {
  /// A batch or a draft over two caches is applied to both, or to none: for readers, for a process that opens the
  /// directory, and for observers of contents.
  static let batchesAreWhole = Property("batches over caches are whole") { evidence in
    let record = evidence.record
    let combination = evidence.combination
    // A widened removal from the store also removes the values of the other cache.
    if combination.kind.widensRemovals, combination.interference == .removeByTagInStore { return [] }
    var findings = evidence.record.readPairs.flatMap { pair in record.parts(in: pair) }
    for batch in record.joint {
      for (place, other) in evidence.others where batch.isApplied != record.contains(batch, other) {
        let text = other.map { "\($0)" } ?? "nothing"
        let state = batch.isApplied ? "applied" : "not applied"
        findings.append("\(batch.mark) was \(state), but the other cache \(place) has \(text)")
      }
      let documents = [evidence.shown, evidence.behindMemory, evidence.reopened]
      if !batch.isApplied, documents.contains(where: { $0?.marks.contains(batch.mark) ?? false }) {
        findings.append("\(batch.mark) was not applied, but the cache returns it")
      }
    }
    return findings
  }
}

extension Record {
  /// Whether the document of the other cache contains the batch, or a later one that replaced it.
  fileprivate func contains(_ batch: Joint, _ other: Document?) -> Bool {
    guard let other else { return false }
    if other.marks.contains(batch.mark) { return true }
    return batch.isApplied
      && joint.contains { $0.mark != batch.mark && other.marks.contains($0.mark) && $0.span.ended > batch.span.began }
  }

  /// Returns the batches of which a pair of reads shows a part.
  fileprivate func parts(in pair: Pair) -> [String] {
    joint.compactMap { batch in
      let (isInKey, isInOther) = (
        pair.document?.marks.contains(batch.mark) ?? false, pair.other?.marks.contains(batch.mark) ?? false
      )
      let isPart =
        switch pair.order {
        case .keyFirst: isInKey && !isInOther && !isReplacedInOther(batch, before: pair)
        case .otherFirst: isInOther && !isInKey && !mayHaveLost(batch, before: pair)
        case .atOnce:
          isInKey && !isInOther && !isReplacedInOther(batch, before: pair)
            || isInOther && !isInKey && !mayHaveLost(batch, before: pair)
        }
      guard isPart else { return nil }
      let texts = [pair.document, pair.other].map { $0.map { "\($0)" } ?? "nothing" }
      return "\(pair.order) at \(pair.span.began): \(texts[0]) and \(texts[1]) show a part of \(batch.mark)"
    }
  }

  private func isReplacedInOther(_ batch: Joint, before pair: Pair) -> Bool {
    joint.contains { other in
      other.mark != batch.mark && other.span.began < pair.span.ended && other.span.ended > batch.span.began
        && pair.other?.marks.contains(other.mark) ?? false
    }
  }

  /// Whether another operation on the key may have replaced, removed or lost the batch's value there.
  private func mayHaveLost(_ batch: Joint, before pair: Pair) -> Bool {
    let others =
      erasures.filter { $0.span.began != batch.span.began }.map(\.span) + losses.map(\.span)
      + stored.filter { $0.mark != batch.mark }.map(\.span) + fetches.map(\.span) + loads.map(\.span)
      + edits.map(\.span) + joint.filter { $0.mark != batch.mark }.map(\.span)
    return others.contains { $0.began < pair.span.ended && $0.ended > batch.span.began }
  }
}
