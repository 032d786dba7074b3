import CisternTesting

@testable import CisternCore

// Enumerations of a trial's cache.

extension Arena {
  /// Enumerates the entries at once, in pages of one entry.
  func enumerate() {
    var enumeration = beginEnumeration(isUndisturbed: executor != nil)
    var cursor: EntryCursor?
    repeat {
      guard let page = try? cache.page(after: cursor, limit: 1) else { return }
      enumeration.keys += page.entries.map(\.key)
      cursor = page.next
    } while cursor != nil
    end(enumeration)
  }

  /// Enumerates the entries one by one, with the points before the first and the second one.
  func enumerateStepByStep() async {
    var enumeration = beginEnumeration(isUndisturbed: false)
    guard var walk = try? EntryWalk(cache, .all, after: nil) else { return }
    await checkpoint.pass(.enumerationBegun)
    while !walk.isAtEnd {
      guard let entries = try? walk.nextEntries(limit: 1) else { return }
      enumeration.keys += entries.map(\.key)
      await checkpoint.pass(.enumerationRead)
    }
    end(enumeration)
  }

  private func beginEnumeration(isUndisturbed: Bool) -> Record.Enumeration {
    Record.Enumeration(isUndisturbed: isUndisturbed, span: Record.Span(began: journal.tick()))
  }

  private func end(_ enumeration: Record.Enumeration) {
    var enumeration = enumeration
    enumeration.span.ended = journal.tick()
    enumeration.present = Set(enumeration.comparedKeys.filter { cache.find($0) != nil })
    journal.change { $0.enumerations.append(enumeration) }
  }
}
