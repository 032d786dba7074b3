import Synchronization

/// Who writes: given with a write, and echoed by the changes that come of it, so that a writer who observes can tell its
/// own changes from those of others.
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

  // Behind a reference: a context is handed on with every write, and most are nil.
  private final class Token: Sendable {
    let value: any Hashable & Sendable
    init(_ value: any Hashable & Sendable) { self.value = value }
  }

  private let identity: Identity
  private static let lastNumber = Atomic<UInt64>(0)

  /// Creates a context that equals no other but its copies.
  public init() {
    identity = .number(Self.lastNumber.add(1, ordering: .relaxed).newValue)
  }

  /// Creates a context that equals those of an equal token: a name, say, or an identifier.
  public init(_ token: some Hashable & Sendable) {
    identity = .token(Token(token))
  }

  /// Whether both are of one writer.
  public static func == (left: WriterContext, right: WriterContext) -> Bool {
    switch (left.identity, right.identity) {
    case (.number(let left), .number(let right)): left == right
    case (.token(let left), .token(let right)): AnyHashable(left.value) == AnyHashable(right.value)
    case (.number, .token), (.token, .number): false
    }
  }

  /// Feeds what ``==(_:_:)`` compares.
  public func hash(into hasher: inout Hasher) {
    switch identity {
    case .number(let number): hasher.combine(number)
    case .token(let token): AnyHashable(token.value).hash(into: &hasher)
    }
  }
}
