/// Judges accounts between which drafts move money. Pure.
enum BalanceRule {
  /// What is wrong with the accounts when nobody writes them; nil where nothing is.
  static func judge(_ balances: [Int?], sum: Int) -> String? {
    let missing = balances.count { $0 == nil }
    if missing > 0 { return "\(missing) are missing" }
    let found = balances.reduce(0) { $0 + ($1 ?? 0) }
    return found == sum ? nil : "they hold \(found) together, not \(sum): a draft was saved in part"
  }
}
