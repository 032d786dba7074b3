/// The invariant of accounts between which drafts move money. Pure.
enum BalanceRule {
  /// Checks the balances while no client writes. Returns the contradiction, or nil.
  static func judge(_ balances: [Int?], sum: Int) -> String? {
    let missing = balances.count { $0 == nil }
    if missing > 0 { return "\(missing) balances are missing" }
    let found = balances.reduce(0) { $0 + ($1 ?? 0) }
    return found == sum ? nil : "their sum is \(found), not \(sum): a draft was saved partially"
  }
}
