/// The lifetimes of the values of a cache, by key.
struct Lifetimes: Sendable {
  private let choices: [Lifetime]

  /// - Parameter choices: The lifetimes. Each one applies to the same number of keys.
  init(_ choices: [Lifetime]) {
    precondition(!choices.isEmpty)
    self.choices = choices
  }

  subscript(key: Int) -> Lifetime { choices[key % choices.count] }

  /// The lifetimes as text: "never; after 2.0 seconds, stale for 1.0 seconds".
  var description: String { choices.map(\.expiry.description).joined(separator: "; ") }
}
