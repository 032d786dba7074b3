/// The mailboxes of a registry, indexed by scope. A pure data structure, guarded by its owner's lock.
struct Registrations: Sendable {
  /// The identity of a registration, unique within the registry. Identifiers increase in the order of registration.
  struct Identifier: Hashable, Comparable, Sendable {
    fileprivate let number: UInt64

    static func < (left: Identifier, right: Identifier) -> Bool { left.number < right.number }
  }

  /// An observer of a key prefix.
  private struct PrefixRegistration {
    let matches: @Sendable (ErasedKey) -> Bool
    let mailbox: any Mailbox
  }

  private var lastIdentifier: UInt64
  private(set) var mailboxes: [Identifier: any Mailbox] = [:]
  private var everything: [Identifier: any Mailbox] = [:]
  private var byKey: [ErasedKey: [Identifier: any Mailbox]] = [:]
  private var byPrefix: [Identifier: PrefixRegistration] = [:]
  private var byTag: [String: [Identifier: any Mailbox]] = [:]
  /// The observers of the contents of a tag. They are also in `byTag`.
  private var contents: [Identifier: (tag: String, mailbox: any Mailbox)] = [:]

  /// Creates an empty collection whose identifiers are greater than `identifier`.
  init(above identifier: UInt64 = 0) {
    lastIdentifier = identifier
  }

  var count: Int { mailboxes.count }

  /// Adds a mailbox with a scope.
  ///
  /// - Complexity: O(*k*) for *k* keys in the scope.
  mutating func add(_ mailbox: any Mailbox, to scope: ErasedScope) -> Identifier {
    lastIdentifier += 1
    let identifier = Identifier(number: lastIdentifier)
    mailboxes[identifier] = mailbox
    switch scope {
    case .everything: everything[identifier] = mailbox
    case .keys(let keys): for key in keys { byKey[key, default: [:]][identifier] = mailbox }
    case .tagged(let tag): byTag[tag, default: [:]][identifier] = mailbox
    case .contentsTagged(let tag):
      byTag[tag, default: [:]][identifier] = mailbox
      contents[identifier] = (tag, mailbox)
    case .matching(let matches): byPrefix[identifier] = PrefixRegistration(matches: matches, mailbox: mailbox)
    }
    return identifier
  }

  /// Removes a mailbox. The caller must hold references to the mailbox and the scope, so that this method releases
  /// no user value.
  ///
  /// - Returns: The keys that no observer observes any more. An equal scope of another observer may have had these
  ///   copies. The caller must release them outside the lock.
  mutating func remove(_ identifier: Identifier, from scope: ErasedScope) -> [ErasedKey] {
    mailboxes[identifier] = nil
    var unobserved: [ErasedKey] = []
    switch scope {
    case .everything: everything[identifier] = nil
    case .keys(let keys):
      for key in keys {
        guard let index = byKey.index(forKey: key) else { continue }
        byKey.values[index][identifier] = nil
        if byKey.values[index].isEmpty { unobserved.append(byKey.remove(at: index).key) }
      }
    case .matching: byPrefix[identifier] = nil
    case .tagged(let tag), .contentsTagged(let tag):
      contents[identifier] = nil
      byTag[tag]?[identifier] = nil
      if byTag[tag]?.isEmpty == true { byTag[tag] = nil }
    }
    return unobserved
  }

  /// Calls `body` with each mailbox whose scope contains a change, in no particular order. A change of many keys is
  /// in all scopes.
  ///
  /// - Complexity: O(*m* + *p* + *c*) for *m* called mailboxes, *p* observers of prefixes, and *c* observers of the
  ///   contents of tags.
  func forEach(interestedIn change: ErasedChange, _ body: (Identifier, any Mailbox) -> Void) {
    guard let key = change.key else {
      for (identifier, mailbox) in mailboxes { body(identifier, mailbox) }
      return
    }
    for (identifier, mailbox) in everything { body(identifier, mailbox) }
    if !byKey.isEmpty, let observers = byKey[key] {
      for (identifier, mailbox) in observers { body(identifier, mailbox) }
    }
    if !byTag.isEmpty {
      // A tag of both the old and the new value occurs twice in the list. Its observers receive the change once.
      for (place, tag) in change.tags.enumerated() where !change.tags[..<place].contains(tag) {
        for (identifier, mailbox) in byTag[tag] ?? [:] { body(identifier, mailbox) }
      }
    }
    if change.hidesFormerTags {
      for (identifier, observer) in contents where !change.tags.contains(observer.tag) {
        body(identifier, observer.mailbox)
      }
    }
    for (identifier, observer) in byPrefix where observer.matches(key) { body(identifier, observer.mailbox) }
  }

  /// Calls `body` with each observer of a tag's contents, if a value with other tags enters or may leave them.
  func forEachContents(enteredOrLeftBy change: ErasedChange, _ body: (Identifier, any Mailbox) -> Void) {
    for (identifier, observer) in contents {
      let isContained = change.newTags.contains(observer.tag)
      let wasContained = change.hidesFormerTags ? !isContained : change.formerTags.contains(observer.tag)
      if isContained != wasContained { body(identifier, observer.mailbox) }
    }
  }
}
