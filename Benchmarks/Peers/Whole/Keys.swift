import Workloads

/// The requested keys, drawn by Zipf's law.
struct Keys: Sendable {
  /// Each key once, in random order.
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

  /// Draws keys with equal probability.
  func evenlyDrawn(_ count: Int, seed: UInt64) -> [String] {
    var randomness = Randomness(seed: seed)
    return (0..<count).map { _ in byRank[Int.random(in: 0..<byRank.count, using: &randomness)] }
  }

  /// Returns a key that is never drawn.
  func beyond(_ number: Int) -> String { .key(byRank.count + number) }
}
