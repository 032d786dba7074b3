extension Property {
  /// Every value was stored with the tag, or is made of one that was: so the tag's removal removes it.
  static let tagsStay = Property("tags stay") { evidence in
    // What has expired leaves no tags to what is made of nothing then.
    guard !evidence.record.losses.contains(where: { $0.kind == .expiry }), let found = evidence.afterTagRemoval,
      evidence.shown != nil, evidence.descendsFromTagged(found)
    else {
      return []
    }
    return ["\(found) is still there after the removal of everything with its tag"]
  }
}

extension Evidence {
  /// Whether a write with the tag is in it.
  fileprivate func descendsFromTagged(_ document: Document) -> Bool {
    document.marks.contains { mark in
      switch record.marks[mark]?.author {
      case .situation, .set, .fetch: true
      case .update, .edit, .draft, nil: false
      }
    }
  }
}
