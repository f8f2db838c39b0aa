import type { OpName } from './ops.js';

/** Ways to say one operation, as orders; `{k}` is the constant. `when` replaces them for one value of the constant. */
export interface Phrases {
  readonly say: readonly string[];
  readonly when?: Readonly<Record<string, readonly string[]>>;
}

const one = (...say: string[]): Phrases => ({ say });

export const phrases: Readonly<Record<OpName, Phrases>> = {
  keepEven: one(
    'keep only the even numbers',
    'keep the even numbers',
    'drop the odd numbers',
    'remove all odd numbers',
  ),
  keepOdd: one('keep only the odd numbers', 'keep the odd numbers', 'drop the even numbers', 'remove all even numbers'),
  keepMultiples: one('keep the multiples of {k}', 'keep only the numbers divisible by {k}'),
  keepAbove: {
    say: ['keep the numbers greater than {k}', 'keep only the numbers above {k}', 'drop the numbers up to {k}'],
    when: { 0: ['keep the positive numbers', 'keep only the numbers greater than 0'] },
  },
  keepAtLeast: one('keep the numbers that are at least {k}', 'drop the numbers less than {k}'),
  keepBelow: {
    say: ['keep the numbers less than {k}', 'keep only the numbers below {k}'],
    when: { 0: ['keep the negative numbers', 'keep only the numbers less than 0'] },
  },
  keepAtMost: one('keep the numbers that are at most {k}', 'drop the numbers greater than {k}'),
  without: one('remove every {k}', 'drop all numbers equal to {k}'),
  addEach: one('add {k} to each number', 'increase each number by {k}'),
  subEach: one('subtract {k} from each number', 'decrease each number by {k}'),
  mulEach: {
    say: ['multiply each number by {k}', 'multiply all numbers by {k}'],
    when: {
      2: ['double each number', 'multiply each number by 2'],
      3: ['triple each number', 'multiply each number by 3'],
    },
  },
  squareEach: one('square each number', 'replace each number by its square'),
  absEach: one('take the absolute value of each number', 'make each number absolute'),
  halveEach: one('halve each number, rounding down', 'divide each number by 2, rounding down'),
  capEach: one('cap each number at {k}', 'replace numbers greater than {k} by {k}'),
  raiseEach: {
    say: ['raise each number to at least {k}', 'replace numbers less than {k} by {k}'],
    when: { 0: ['replace negative numbers by 0', 'raise each number to at least 0'] },
  },
  halveEvens: one('halve the even numbers and leave the odd ones', 'halve each even number'),
  mulOdds: {
    say: ['multiply the odd numbers by {k} and leave the even ones', 'multiply each odd number by {k}'],
    when: { 2: ['double the odd numbers and leave the even ones', 'double each odd number'] },
  },
  addIndex: one('add to each number its index', 'add its position to each number'),
  reverseInts: one('reverse the list', 'put the numbers in reverse order'),
  sortUp: one('sort ascending', 'sort the numbers from smallest to largest', 'sort the list in ascending order'),
  sortDown: one('sort descending', 'sort the numbers from largest to smallest', 'sort the list in descending order'),
  uniqueInts: one('remove duplicates', 'keep each number once', 'keep the unique numbers'),
  takeInts: {
    say: ['keep the first {k} numbers', 'take the first {k} numbers'],
    when: { 1: ['keep only the first number'] },
  },
  dropInts: {
    say: ['drop the first {k} numbers', 'skip the first {k} numbers'],
    when: { 1: ['drop the first number', 'skip the first number'] },
  },
  takeLastInts: {
    say: ['keep the last {k} numbers', 'take the last {k} numbers'],
    when: { 1: ['keep only the last number'] },
  },
  dropLastInts: {
    say: ['drop the last {k} numbers', 'remove the last {k} numbers'],
    when: { 1: ['drop the last number', 'remove the last number'] },
  },
  everySecond: one('keep every second number, starting with the first', 'keep the numbers at even indexes'),
  runningSum: one('replace the list by its running sums', 'take the running sum'),
  differences: one('take the differences between neighbours', 'replace the list by the differences of neighbours'),

  sum: one('add them up', 'return the sum', 'add all numbers', 'take the sum of the numbers'),
  product: one('multiply them all', 'return the product', 'take the product of the numbers'),
  max: one('return the largest number, or 0 if there is none', 'take the maximum (0 if empty)'),
  min: one('return the smallest number, or 0 if there is none', 'take the minimum (0 if empty)'),
  spread: one('subtract the minimum from the maximum (0 if empty)', 'take the largest minus the smallest (0 if empty)'),
  countInts: one('count the numbers', 'return how many numbers there are', 'return the length of the list'),
  firstInt: one('return the first number, or 0 if there is none', 'take the first number (0 if empty)'),
  lastInt: one('return the last number, or 0 if there is none', 'take the last number (0 if empty)'),
  countOf: one('count how often {k} occurs', 'count the numbers equal to {k}'),
  positionOf: one('find the index of the first {k}, or -1', 'return the index of {k} (-1 if missing)'),

  allAbove: {
    say: ['check whether all numbers are greater than {k}', 'tell if every number is above {k}'],
    when: { 0: ['check whether all numbers are positive', 'tell if every number is positive'] },
  },
  anyAbove: one('check whether any number is greater than {k}', 'tell if some number is above {k}'),
  anyEven: one('check whether any number is even', 'tell if some number is even'),
  allEven: one('check whether all numbers are even', 'tell if every number is even'),
  contains: one('check whether {k} is in the list', 'tell if the list contains {k}'),
  isSorted: one('check whether the list is sorted ascending', 'tell if the numbers are in ascending order'),
  hasRepeats: one('check whether any number occurs twice', 'tell if the list has duplicates'),

  add: one('add {k}', 'increase it by {k}'),
  sub: one('subtract {k}', 'decrease it by {k}'),
  mul: {
    say: ['multiply it by {k}', 'multiply by {k}'],
    when: { 2: ['double it', 'multiply by 2'], 3: ['triple it', 'multiply by 3'] },
  },
  square: one('square it', 'take its square'),
  abs: one('take the absolute value', 'make it absolute'),
  halve: one('halve it, rounding down', 'divide by 2, rounding down'),
  mod: one('take the remainder after division by {k}', 'take it modulo {k}'),
  digitSum: one('sum its digits', 'take the sum of the digits'),
  reverseDigits: one('reverse its digits', 'put the digits in reverse order'),
  cap: one('cap it at {k}', 'take the smaller of it and {k}'),
  raise: one('raise it to at least {k}', 'take the larger of it and {k}'),
  collatz: one('halve it if even, else triple it and add 1', 'if it is even halve it, otherwise triple it and add 1'),
  factorial: one('take the factorial', 'return its factorial'),

  range: one('list the numbers from 1 to it', 'count from 1 up to it'),
  digits: one('list its digits', 'split it into digits'),
  divisors: one('list its divisors', 'find all divisors in ascending order'),
  multiples: one('list its first {k} multiples', 'list the first {k} multiples of it'),

  isEven: one('check whether it is even', 'tell if it is even'),
  isMultiple: one('check whether it is divisible by {k}', 'tell if it is a multiple of {k}'),
  isAbove: one('check whether it is greater than {k}', 'tell if it is above {k}'),
  isAtLeast: one('check whether it is at least {k}', 'tell if it is at least {k}'),
  isPrime: one('check whether it is prime', 'tell if it is a prime number'),

  reverseStr: one('reverse the string', 'put the characters in reverse order'),
  upper: one('turn it into upper case', 'make the string upper case'),
  lower: one('turn it into lower case', 'make the string lower case'),
  capitalize: one('make the first letter upper case', 'capitalize the first letter'),
  removeVowels: one('remove the vowels', 'drop all vowels'),
  removeLetter: one("remove every '{k}'", "drop all '{k}' letters"),
  dashSpaces: one('replace spaces by dashes', 'turn each space into a dash'),
  takeChars: {
    say: ['keep the first {k} characters', 'take the first {k} characters'],
    when: { 1: ['keep only the first character'] },
  },
  dropChars: {
    say: ['drop the first {k} characters', 'skip the first {k} characters'],
    when: { 1: ['drop the first character', 'skip the first character'] },
  },
  takeLastChars: {
    say: ['keep the last {k} characters', 'take the last {k} characters'],
    when: { 1: ['keep only the last character'] },
  },
  dropLastChars: {
    say: ['drop the last {k} characters', 'remove the last {k} characters'],
    when: { 1: ['drop the last character', 'remove the last character'] },
  },
  repeat: {
    say: ['repeat it {k} times', 'repeat the string {k} times'],
    when: { 2: ['repeat it twice', 'repeat the string 2 times'] },
  },
  append: one("add '{k}' at the end", "append '{k}'"),
  prepend: one("add '{k}' at the front", "put '{k}' in front"),
  doubleChars: one('double each character', 'write each character twice'),
  sortChars: one('sort the characters', 'put the characters in sorted order'),
  uniqueChars: one('keep each character once', 'remove repeated characters'),

  countChars: one('count the characters', 'return the length of the string'),
  countVowels: one('count the vowels', 'return the number of vowels'),
  countLetter: one("count how often '{k}' occurs", "count the letter '{k}'"),
  positionOfLetter: one("find the index of the first '{k}', or -1", "return the index of '{k}' (-1 if missing)"),
  isPalindrome: one('check whether it is a palindrome', 'tell if it reads the same backwards'),
  startsWith: one("check whether it starts with '{k}'", "tell if the first letter is '{k}'"),
  endsWith: one("check whether it ends with '{k}'", "tell if the last letter is '{k}'"),
  containsLetter: one("check whether it contains '{k}'", "tell if '{k}' is in the string"),
  words: one('split it into words', 'split at spaces'),
  letterCounts: one('count how often each character occurs', 'map each character to its count'),

  keepLonger: one('keep the words longer than {k}', 'keep only words with more than {k} letters'),
  keepShorter: one('keep the words shorter than {k}', 'keep only words with less than {k} letters'),
  keepStarting: one("keep the words that start with '{k}'", "keep only words starting with '{k}'"),
  keepContaining: one("keep the words that contain '{k}'", "keep only words containing '{k}'"),
  upperEach: one('turn each word into upper case', 'make each word upper case'),
  reverseEach: one('reverse each word', 'write each word backwards'),
  takeCharsEach: {
    say: ['cut each word to its first {k} letters', 'keep the first {k} letters of each word'],
    when: { 1: ['keep the first letter of each word', 'cut each word to its first letter'] },
  },
  reverseStrs: one('reverse the list', 'put the words in reverse order'),
  sortStrs: one('sort the words', 'sort the words in alphabetical order'),
  uniqueStrs: one('remove duplicates', 'keep each word once', 'keep the unique words'),
  takeStrs: {
    say: ['keep the first {k} words', 'take the first {k} words'],
    when: { 1: ['keep only the first word in the list'] },
  },
  dropStrs: {
    say: ['drop the first {k} words', 'skip the first {k} words'],
    when: { 1: ['drop the first word', 'skip the first word'] },
  },

  lengths: one('replace each word by its length', 'take the length of each word'),
  join: {
    say: ["join the words with '{k}'", "join them with '{k}'"],
    when: { ' ': ['join the words with spaces', 'join them with spaces'] },
  },
  firstStr: one('return the first word, or an empty string', "take the first word ('' if empty)"),
  lastStr: one('return the last word, or an empty string', "take the last word ('' if empty)"),
  longest: one("find the first longest word ('' if empty)", 'return the first longest word, or an empty string'),
  countStrs: one('count the words', 'return how many words there are', 'return the length of the list'),
  wordCounts: one('count how often each word occurs', 'map each word to its count'),
  wordLengths: one('map each word to its length', 'build a dictionary from word to length'),
  initialCounts: one('count the words by first letter', 'map each first letter to its number of words'),

  keys: one('list the keys', 'take the keys'),
  values: one('list the values', 'take the values'),
  keysAbove: one('list the keys with a value greater than {k}', 'take the keys whose value is above {k}'),
  entriesAbove: one('keep the entries with a value greater than {k}', 'keep only entries whose value is above {k}'),
  mulValues: {
    say: ['multiply each value by {k}', 'multiply all values by {k}'],
    when: { 2: ['double each value', 'multiply each value by 2'] },
  },
  valueOf: one("return the value of '{k}', or 0", "look up '{k}' (0 if missing)"),
  topKey: one(
    "return the first key with the largest value ('' if empty)",
    'find the first key with the largest value, or an empty string',
  ),
  hasKey: one("check whether '{k}' is a key", "tell if there is a key '{k}'"),
};
