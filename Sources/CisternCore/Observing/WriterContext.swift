import Synchronization

/// The identity of a writer. A write passes its context to the resulting changes, so that an observer can
/// distinguish its own changes from those of other writers.
///
/// ```swift
/// let me = WriterContext()
/// articles.setValue(edited, forKey: id, context: me)
/// for await change in articles.updates(forKey: id) where change.context != me { render(change.value) }
/// ```
public struct WriterContext: Sendable, Hashable {
  private enum Identity: Sendable {
    case number(UInt64)
    case token(Token)
  }

  // A reference keeps contexts small. They are passed with every write, and most are nil.
  private final class Token: Sendable {
    let value: any Hashable & Sendable
    init(_ value: any Hashable & Sendable) { self.value = value }
  }

  private let identity: Identity
  private static let lastNumber = Atomic<UInt64>(0)

  /// Creates a context that is equal only to its copies.
  public init() {
    identity = .number(Self.lastNumber.add(1, ordering: .relaxed).newValue)
  }

  /// Creates a context that is equal to every context with an equal token.
  ///
  /// - Parameter token: A value that identifies the writer, for example a name.
  public init(_ token: some Hashable & Sendable) {
    identity = .token(Token(token))
  }

  /// Returns whether both contexts identify the same writer.
  public static func == (left: WriterContext, right: WriterContext) -> Bool {
    switch (left.identity, right.identity) {
    case (.number(let left), .number(let right)): left == right
    case (.token(let left), .token(let right)): AnyHashable(left.value) == AnyHashable(right.value)
    case (.number, .token), (.token, .number): false
    }
  }

  /// Hashes the components that ``==(_:_:)`` compares.
  ///
  /// - Parameter hasher: The hasher to use.
  public func hash(into hasher: inout Hasher) {
    switch identity {
    case .number(let number): hasher.combine(number)
    case .token(let token): AnyHashable(token.value).hash(into: &hasher)
    }
  }
}
