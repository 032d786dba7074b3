import Workloads

/// The keys that are asked for: some more often than others, by Zipf's law.
struct Keys: Sendable {
  /// Each of them once, in no order.
  let all: [String]
  private let byRank: [String]
  private let ranks: ZipfRanks

  init(count: Int) {
    byRank = (0..<count).map(String.key)
    ranks = ZipfRanks(count: count)
    var randomness = Randomness(seed: 3)
    all = byRank.shuffled(using: &randomness)
  }

  func drawn(_ count: Int, seed: UInt64) -> [String] { ranks.draw(count, seed: seed).map { byRank[$0] } }

  /// Each as often as the others.
  func evenlyDrawn(_ count: Int, seed: UInt64) -> [String] {
    var randomness = Randomness(seed: seed)
    return (0..<count).map { _ in byRank[Int.random(in: 0..<byRank.count, using: &randomness)] }
  }

  /// One that is never drawn.
  func beyond(_ number: Int) -> String { .key(byRank.count + number) }
}
