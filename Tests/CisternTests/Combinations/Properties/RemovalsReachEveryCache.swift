extension Property {
  /// A removal of a tag from the store removes the values of its other caches, too.
  static let removalsReachEveryCache = Property("removals from the store reach every cache") { evidence in
    evidence.record.incompleteRemovals == 0 ? [] : ["the other cache returns a value after the removal of its tag"]
  }
}
