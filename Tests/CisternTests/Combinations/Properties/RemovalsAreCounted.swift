extension Property {
  /// An edit that removes its key counts as a removal and not as a store.
  static let removalsAreCounted = Property("removals are counted") { evidence in
    let combination = evidence.combination
    guard combination.operation == .edit(.removed), combination.interference == .nothing else { return [] }
    let (stores, removals) = (evidence.statistics.stores, evidence.statistics.removals)
    // The two expected stores are the bystander's and the one that created the initial situation, unless they are in a
    // file. Each announcement of the end stores a value, which the next announcement removes.
    let ends = evidence.record.endCount
    let expected = combination.kind.isReadOnly ? (evidence.record.markInFile == nil ? 1 : 0) : 2
    return stores == expected + ends && removals == 1 + max(0, ends - 1)
      ? [] : ["\(stores) stores and \(removals) removals were counted"]
  }
}
