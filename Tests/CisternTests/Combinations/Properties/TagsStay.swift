extension Property {
  /// Every value was stored with the tag or derives from a value with the tag. Therefore the tag's removal removes
  /// it.
  static let tagsStay = Property("tags stay") { evidence in
    // An expired value passes no tags to a value that is created after it expired.
    let isExpired = evidence.record.losses.contains { $0.kind == .expiry }
    // Neither does a value that a fetch removed below an unconfirmed edit.
    let isRemovedBelow = !evidence.record.edits.isEmpty && evidence.record.fetches.contains { $0.effect.removes }
    guard !isExpired, !isRemovedBelow, let found = evidence.afterTagRemoval,
      evidence.shown != nil, evidence.descendsFromTagged(found)
    else {
      return []
    }
    return ["\(found) is still readable after the removal of all values with its tag"]
  }
}

extension Evidence {
  /// Returns whether a document contains a write with the tag.
  fileprivate func descendsFromTagged(_ document: Document) -> Bool {
    document.marks.contains { mark in
      switch record.marks[mark]?.author {
      case .situation, .set, .fetch: true
      case .update, .edit, .draft, nil: false
      }
    }
  }
}
