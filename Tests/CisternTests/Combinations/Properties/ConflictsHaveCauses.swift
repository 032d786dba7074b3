extension Property {
  /// A draft has a conflict only if another operation changed the key in the cache.
  static let conflictsHaveCauses = Property("conflicts have causes") { evidence in
    let combination = evidence.combination
    guard evidence.record.conflicts > 0 else { return [] }
    // The outer draft still has its own write of the other key, which the second operation may change.
    if !combination.kind.keepsWrites, combination.operation == .draft(.nestedInSaved) { return [] }
    if combination.leavesKeyAlone {
      return ["a draft had a conflict, although no other operation wrote its key"]
    }
    if combination.operation.comparesValues, combination.interference == .setEqual,
      combination.kind.keepsWrites
    {
      return ["a draft had a conflict, although its key was set to an equal value"]
    }
    return []
  }
}
