extension Property {
  /// An edit that removes its key counts as a removal and not as a store.
  static let removalsAreCounted = Property("removals are counted") { evidence in
    let combination = evidence.combination
    guard combination.operation == .edit(.removed), combination.interference == .nothing else { return [] }
    let (stores, removals) = (evidence.statistics.stores, evidence.statistics.removals)
    // The two expected stores are the bystander's and the one that created the initial situation.
    return stores == 2 && removals == 1 ? [] : ["\(stores) stores and \(removals) removals were counted"]
  }
}
