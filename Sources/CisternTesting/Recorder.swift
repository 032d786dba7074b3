import Locking

/// A list that any thread may append to: what happened, in the order in which it did.
///
///     let changes = Recorder<Change<String, Article>>()
///     let token = articles.observe(.all) { changes.record($0) }
public final class Recorder<Element: Sendable>: Sendable {
  private let list = Guarded<[Element]>([])

  /// Creates an empty one.
  public init() {}

  /// Appends an element.
  public func record(_ element: Element) {
    list.withLock { $0.append(element) }
  }

  /// What was recorded so far.
  public var elements: [Element] { list.withLock { $0 } }

  /// How many elements were recorded so far.
  public var count: Int { list.withLock { $0.count } }

  /// Takes what was recorded so far; the recorder begins anew.
  public func removeAll() -> [Element] {
    list.withLock { list in
      defer { list = [] }
      return list
    }
  }
}
