import Cistern

/// An exercise in which drafts move money between accounts. The sum of all accounts must not change, even if drafts
/// conflict.
final class TransferExercise: Exercise {
  private static let accounts = (0..<12).map { "account\($0)" }
  private static let opening = 1_000

  private let room = Room<String, Int>()
  private let violations: ViolationLog

  init(violations: ViolationLog) {
    self.violations = violations
  }

  func open(in store: Store, isFirst: Bool) throws {
    room.move(to: try store.cache("accounts", of: Int.self, keyedBy: String.self))
    guard isFirst else { return }
    try room.cache.batch { batch in
      for account in Self.accounts { batch.setValue(Self.opening, forKey: account) }
    }
  }

  func perform(by client: Performer) async {
    let source = client.index(below: Self.accounts.count)
    let target = (source + 1 + client.index(below: Self.accounts.count - 1)) % Self.accounts.count
    let amount = 1 + client.index(below: 10)
    let way = client.index(below: 20)
    let yields = client.index(below: 3)
    await client.measure {
      let draft = room.cache.draft()
      // Sometimes the draft has a nested draft. The nested draft is saved into the draft, and the draft into the
      // cache.
      let layer = way < 5 ? draft.draft() : draft
      do {
        try move(amount, from: Self.accounts[source], to: Self.accounts[target], in: layer)
        for _ in 0..<yields { await Task.yield() }
        if layer !== draft { try layer.save() }
        switch way {
        case 19:
          draft.discard()
        case 18:
          try await draft.commit(onConflict: .throw)
        case 10..<18:
          try draft.save(onConflict: .merge { ($0.theirs ?? 0) + ($0.mine ?? 0) - ($0.original ?? 0) })
        default:
          try draft.save(onConflict: .throw)
        }
        return .saved
      } catch let error as CisternError where error.code == .conflict {
        return .conflicted
      } catch {
        return violations.judge(error, of: "\(Self.accounts[source]): the save of a draft")
      }
    }
  }

  private struct MissingAccount: Error {}

  private func move(
    _ amount: Int, from source: String, to target: String, in draft: Draft<String, Int>
  ) throws {
    guard let has = draft[source], let had = draft[target] else { throw MissingAccount() }
    draft[source] = has - amount
    draft[target] = had + amount
  }

  func settle() async {
    let balances = Self.accounts.map { room.cache.value(forKey: $0) }
    if let wrong = BalanceRule.judge(balances, sum: Self.accounts.count * Self.opening) {
      violations.report(.torn, "the accounts: \(wrong)")
    }
  }
}
