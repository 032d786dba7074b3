extension Property {
  /// A draft has a conflict only where something changed the key below it.
  static let conflictsHaveCauses = Property("conflicts have causes") { evidence in
    let combination = evidence.combination
    guard case .draft(let form) = combination.operation, evidence.record.conflicts > 0 else { return [] }
    if combination.interference.leavesKeyAlone {
      return ["a draft had a conflict, and nothing wrote its key"]
    }
    if form == .comparing, combination.interference == .setEqual {
      return ["a draft had a conflict, and its key was given the value that it had"]
    }
    return []
  }
}
